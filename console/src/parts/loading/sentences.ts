import english from '../../messages/en/failures.json' with { type: 'json' };

/** A sentence of a service that the console can say in other languages. */
interface Known {
  /** of the message */
  key: string;
  /** whether its English message has other words */
  isOwn: boolean;
  /** of its placeholders */
  values: Record<string, string>;
}

/** Sentences for which the console has other words in English, too: they name the fields of its login. */
const OWN: Partial<Record<string, string>> = {
  login: 'username or password is wrong',
  attempts: 'too many failed attempts; try again later',
  unconfirmed: 'the account is not active: its e-mail address has not been confirmed',
  inactive: 'the account is not active: an administrator has not activated it yet',
  deactivated: 'the account is not active: an administrator deactivated it',
};
const PREFIX = 'said.';
/** What is in these placeholders is one word: the name of a field, a number. */
const WORDS = new Set(['field', 'count', 'least', 'most', 'size']);

/** The sentences that the services send, with placeholders: the English messages but for OWN. */
export const SENTENCES: readonly (readonly [key: string, sentence: string])[] = Object.entries(english)
  .filter(([key]) => key.startsWith(PREFIX))
  .map(([key, text]) => [key.slice(PREFIX.length), text] as const)
  .map(([key, text]) => [key, OWN[key] ?? text]);

/** The longest are compared first. */
const TEMPLATES = SENTENCES.toSorted(([, one], [, other]) => other.length - one.length).map(
  ([key, text]) => ({ key, isOwn: key in OWN, pattern: patternOf(text) }),
);

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
  for (const { key, isOwn, pattern } of TEMPLATES) {
    const match = pattern.exec(sentence);
    if (match) return { key, isOwn, values: { ...match.groups } };
  }
  return undefined;
}
