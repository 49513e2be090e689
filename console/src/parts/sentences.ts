import english from '../messages/en/failures.json' with { type: 'json' };

/** A sentence of a service that the console can say in other languages. */
interface Known {
  /** of the message */
  key: string;
  /** of its placeholders */
  values: Record<string, string>;
}

const PREFIX = 'said.';
/** What is in these placeholders is one word: the name of a field, a number. */
const WORDS = new Set(['field', 'count', 'least', 'most', 'size']);

/** The English messages are the sentences that the services send, with placeholders; the longest are compared first. */
const TEMPLATES = Object.entries(english)
  .filter(([key]) => key.startsWith(PREFIX))
  .sort(([, one], [, other]) => other.length - one.length)
  .map(([key, text]) => ({ key: key.slice(PREFIX.length), pattern: patternOf(text) }));

function patternOf(template: string): RegExp {
  const literal = template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  const pattern = literal.replaceAll(
    /\{(\w+)\}/g,
    (_whole, name: string) => `(?<${name}>${WORDS.has(name) ? '\\S+' : '.+?'})`,
  );
  return new RegExp(`^${pattern}$`, 's');
}

/** The message `failures.said.<key>` that says the same as a sentence of a service; undefined if there is none. */
export function recognise(sentence: string): Known | undefined {
  for (const { key, pattern } of TEMPLATES) {
    const match = pattern.exec(sentence);
    if (match) return { key, values: { ...match.groups } };
  }
  return undefined;
}
