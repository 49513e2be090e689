import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';
import { full } from 'acorn-walk';

/** Phrases that read like a translation, and what to write instead. */
const ODD_PHRASES: readonly [phrase: RegExp, better: string][] = [
  [/\bwhom?ever\b/i, 'if you; anyone who'],
  [/\breckon(s|ed|ing)?\b/i, 'compute'],
  [/\bstands? (in(?! for)|at|there|nowhere|alone|beside|behind|between|deeper|still|on)\b/i, 'is in'],
  [/\bstanding in\b/i, 'is in'],
  [/\b(is|are) nobody's\b/i, 'belongs to nobody'],
  [/\b(is|are|was|were|be) told (as|by|of|that)\b/i, 'gets; is reported'],
  [/\bwho asks\b(?! for\b)/i, 'the caller'],
  [/\banew\b/i, 'again'],
  [/\bfor ever\b/i, 'forever'],
  [/\bin vain\b/i, 'without success'],
  [/\blest\b/i, 'so that … not'],
  [/\b(there|here)(by|in|of|upon)\b/i, 'by that; in it'],
  [/(?<!\p{L})(he|himself)(?!\p{L})/u, 'they'],
  [/\bput together\b/i, 'assembled'],
  [/\bas (it|they) came\b/i, 'as sent'],
  [/\w`[a-z]/i, "an apostrophe (')"],
];

/**
 * The odd phrases in a text.
 *
 * @param text Markdown, a comment or a message; code in backticks does not count
 */
export function oddPhrases(text: string): string[] {
  const prose = text
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/(?<!\w)`[^`]+`/g, '')
    .replaceAll(/\s+/g, ' ');
  return ODD_PHRASES.flatMap(([phrase, better]) => {
    const found = phrase.exec(prose)?.[0];
    return found ? [`"${found}": write ${better}`] : [];
  });
}

/** The comments of a TypeScript or JavaScript file, and its texts of more than one word: messages, descriptions, titles. */
export function proseOf(source: string): string[] {
  const comments = [...source.matchAll(/^[ \t]*(\/\*[\s\S]*?\*\/|\/\/.*(?:\n[ \t]*\/\/.*)*)/gm)].map(
    ([text]) => text.replaceAll(/^\s*(?:\/\*+|\*\/?|\/\/)|\*\/$/gm, ' '),
  );
  const texts: string[] = [];
  const code = stripTypeScriptTypes(source).replace(/^#!.*/, '');
  // Comments in types are blanks for the parser, so that only comments after code come from it.
  const onComment = (_block: boolean, text: string, start: number) => {
    const before = source.slice(source.lastIndexOf('\n', start) + 1, start);
    if (before.trim() !== '') comments.push(text);
  };
  full(parse(code, { ecmaVersion: 'latest', sourceType: 'module', onComment }), (node: Node) => {
    if (node.type === 'Literal') texts.push(String((node as Node & { value: unknown }).value));
    if (node.type === 'TemplateElement') texts.push((node as Node & { value: { raw: string } }).value.raw);
  });
  return [...comments, ...texts.filter(text => /\w\W+\w/.test(text))];
}
