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

/** Sentences for which the console has other words in English, too: those of validation, and of its login. */
const OWN: Partial<Record<string, readonly string[]>> = {
  login: ['username or password is wrong'],
  attempts: ['too many failed attempts; try again later'],
  unconfirmed: ['the account is not active: its e-mail address has not been confirmed'],
  inactive: ['the account is not active: an administrator has not activated it yet'],
  deactivated: ['the account is not active: an administrator deactivated it'],
  required: [
    ...['{field} is required', '{field} must NOT have fewer than 1 characters'],
    '{field} must match pattern "\\S"',
  ],
  text: ['{field} must be string', '{field} must be string or null'],
  integer: [
    ...['{field} must be integer', '{field} must be integer or null'],
    ...[
      '{field} must be a whole number or a whole number as a string',
      '{field} must be a whole number or a whole number as a string or null',
      '{field} must be a whole number, written in digits',
      '{field} must match pattern "^[1-9][0-9]{0,9}$"',
    ],
  ],
  number: [
    ...['{field} must be number', '{field} must be number or null'],
    '{field} must match pattern "^-?[0-9]{1,20}(\\.[0-9]{1,10})?$"',
  ],
  boolean: ['{field} must be boolean', '{field} must be boolean or null'],
  shape: [
    ...['array', 'object', 'null', 'string or object', 'string or object or null', 'array or object'],
    ...['object or null', 'array or null', 'array or object or null', 'string or number or boolean or null'],
    ...['string or string', 'string or string or string'],
    'a whole number or a whole number or an ISO 3166-1 alpha-2 code as a string or null',
    ...['object or object', 'array,object or null', 'a Feature or a FeatureCollection'],
    ...['a Point or a Polygon', 'a Point or a Polygon or a Feature of one of them'],
    ...['a Polygon or a MultiPolygon', 'ids, separated by commas or a list of ids'],
    ...['another shape or null', 'another shape or string', 'another shape or string or null'],
  ].map(types => `{field} must be ${types}`),
  short: ['{field} must NOT have fewer than {count} characters'],
  long: ['{field} must NOT have more than {count} characters'],
  length: ['{field} must have {least} to {most} characters'],
  few: ['{field} must NOT have fewer than {count} items'],
  many: [
    '{field} must NOT have more than {count} items',
    '{field} must NOT have more than {count} properties',
  ],
  least: ['{field} must be >= {value}'],
  most: ['{field} must be <= {value}'],
  country: ['{field} must match pattern "^[A-Z]{2}$"'],
  currency: ['{field} must match pattern "^[A-Z]{3}$"'],
  language: ['{field} must match pattern "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"'],
  pattern: ['{field} must match pattern "{pattern}"', '{field} must match format "{pattern}"'],
  choice: ['{field} must be one of {choices}'],
  email: ['{field} must be an e-mail address such as ana@example.org'],
  day: ['{field} is not a date'],
  time: [
    ...['{field} must be an ISO 8601 date or date-time', '{field} must be an ISO 8601 date-time'],
    '{field} must match pattern "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]{1,20}(Z|[+-][0-9:]{1,6})?)?$"',
  ],
  range: ['{field} must be a date from {first} to {last}, as YYYY-MM-DD'],
  future: ['{field} must be in the future'],
  days: ['{field} must be at most {count} days from now'],
  taken: ['{field} {value} is that of another {noun}'],
  common: ['{field} is one of the most common passwords; choose another'],
  place: ['{field}: the location has neither a geometry nor a latitude and longitude'],
  plot: ['{field}: a plot of more than {count} ha has to be a polygon, not a point'],
  position: ['{field} must have lat from -90 to 90 and lon from -180 to 180'],
};
const PREFIX = 'said.';
/** What is in these placeholders is one word, such as a number. */
const WORDS = new Set(['count', 'least', 'most', 'size']);
const PLACEHOLDER = /\{([a-z]+)\}/;

/** The sentences that the services send, with placeholders: the English messages but for OWN. */
export const SENTENCES: readonly (readonly [key: string, sentence: string])[] = Object.entries(english)
  .filter(([key]) => key.startsWith(PREFIX))
  .map(([key, text]) => [key.slice(PREFIX.length), text] as const)
  .flatMap(([key, text]) => (OWN[key] ?? [text]).map(sentence => [key, sentence] as const));

const literalLength = (sentence: string) => sentence.replaceAll(/\{[a-z]+\}/g, '').length;

/** Those with the most words of their own are compared first. */
const TEMPLATES = SENTENCES.toSorted(([, one], [, other]) => literalLength(other) - literalLength(one)).map(
  ([key, text]) => ({ key, isOwn: key in OWN, pattern: patternOf(text) }),
);

function patternOf(template: string): RegExp {
  // Every second part is the name of a placeholder.
  const parts = template
    .split(PLACEHOLDER)
    .map((part, at) =>
      at % 2 === 0
        ? part.replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&')
        : `(?<${part}>${WORDS.has(part) ? '\\S+' : '.+?'})`,
    );
  return new RegExp(`^${parts.join('')}$`, 's');
}

/** The message `failures.said.<key>` that says the same as a sentence of a service; undefined if there is none. */
export function recognise(sentence: string): Known | undefined {
  for (const { key, isOwn, pattern } of TEMPLATES) {
    const match = pattern.exec(sentence);
    if (match) return { key, isOwn, values: { ...match.groups } };
  }
  return undefined;
}
