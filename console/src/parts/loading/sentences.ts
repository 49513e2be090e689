/** A sentence of a service that the console says in its own words. */
interface Known {
  /** of the message */
  key: string;
  /** of its placeholders */
  values: Record<string, string>;
}

/** The sentences of the services, with placeholders, by the message that says the same in the languages of the console. */
const SAID: Readonly<Record<string, readonly string[]>> = {
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
  currency: ['{field} must match pattern "^[A-Z]{3}$"', '{field} is not a currency of ISO 4217'],
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
  password: ['{field} is missing or wrong'],
  code: ['code is wrong or was used before'],
  registered: ['this address is already registered'],
  'registered-other': ['{address} is already registered'],
  token: ['token is unknown, used or older than {age}; request another mail'],
  ended: ['the session has ended; log in again'],
  meanwhile: ['the password was changed meanwhile; try again'],
  soon: ['a change was requested just now; try again later'],
  'factor-role': ['the role {role} requires a second factor'],
  keys: ['a user has at most {count} keys: revoke one first'],
  last: ['this is the last active SYSTEM_ADMIN'],
  self: ['you cannot do this to yourself; ask another administrator'],
  erased: ['the account is erased'],
  system: ['this is for a SYSTEM_ADMIN'],
  members: ['the company has {count} users, which is the maximum'],
  'member-address': ['email is the address of a member of the company'],
  'member-unknown': ['email is neither the address of a member nor invited'],
  'company-closed': ['the company is deactivated'],
  'company-admins': ['only its COMPANY_ADMINs can change the company'],
  'company-own': ['company.id is not an active company of yours'],
  'product-members': ['only members of the company that owns the product can change it'],
  history: ['only users who may change the product can read its history'],
  chain: ['valueChain.id is not an enabled value chain'],
  'chain-disabled': ['the value chain is disabled'],
  batch: ['number is the number of another batch of this label'],
  picture: ['file must be a JPEG, PNG or WebP image'],
  large: ['file is larger than {size} MB'],
  changed: ['it has changed since you read it; read it again'],
  stopping: ['the service is stopping'],
  internal: ['internal error; see the log of the service'],
  packet: ['there is no packet {id}'],
  thread: ['there is no thread {id}'],
  field: ['there is no field {id}'],
  observed: ['observed_at must be an ISO 8601 date-time such as 2026-03-01T08:15:00Z'],
  empty: ['text must not be empty when there are no attachments'],
  message: ['Body.text is longer than {count} Unicode characters'],
  directory: ['{user} is not in the directory'],
  invitation: ['there is no such invitation; it may have been used or expired'],
  recipient: ['only the recipient can accept or reject a share'],
  rates: ['there are no rates of {codes} for {date}'],
  'rates-none': ['there are no rates of {codes} yet'],
  'rates-both': ['no day has rates of both {codes}'],
  'rates-until': ['no day up to {date} has rates of both {codes}'],
  'registered-own': ['email is already your address'],
  'token-change': ['token is unknown, used or older than {age}; request the change again'],
  'token-invitation': ['token is unknown, used or expired; ask the company to invite you again'],
  'invitation-account': [
    'no active account has this address: create one, and open the link again once an administrator has activated it',
  ],
  'invitation-mail': ['this invitation is accepted by the link in its mail'],
  'address-often': ['email was invited {count} times within a day; try again later'],
  'mail-queued': ['the mail is being sent again already'],
  'mail-obsolete': ['there is no reason any more to send this mail'],
  'mail-unknown': ['there is no such mail; it was sent, dismissed or is not needed any more'],
  'dead-unknown': ['there is no such dead letter; it was delivered, dismissed or is being tried again'],
  'last-company': ['this is the last COMPANY_ADMIN of the company; make another user one first'],
  'invited-many': ['you have invited {count} users within an hour; try again later'],
  'other-admin': [
    'only another SYSTEM_ADMIN can change a SYSTEM_ADMIN',
    'only a SYSTEM_ADMIN can change a SYSTEM_ADMIN',
  ],
  owner: ['the owner cannot be removed; assign the product to another company, or delete it'],
  'label-used': ['the label is in use by the final product "{name}"'],
  'rates-time': ['there are no rates of {codes} in that time'],
  'rates-fetched': ['the exchange rates of this date are being fetched; try again'],
  'rates-used': ["you have used up your {count} of the day's requests for exchange rates"],
};
/** What is in these placeholders is one word, such as a number. */
const WORDS = new Set(['count', 'least', 'most', 'size']);
const PLACEHOLDER = /\{([a-z]+)\}/;

/** The sentences that the services send, with placeholders, and the messages that say the same. */
export const SENTENCES: readonly (readonly [key: string, sentence: string])[] = Object.entries(SAID).flatMap(
  ([key, sentences]) => sentences.map(sentence => [key, sentence] as const),
);

const literalLength = (sentence: string) => sentence.replaceAll(/\{[a-z]+\}/g, '').length;

/** Those with the most words of their own are compared first. */
const TEMPLATES = SENTENCES.toSorted(([, one], [, other]) => literalLength(other) - literalLength(one)).map(
  ([key, text]) => ({ key, pattern: patternOf(text) }),
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
  for (const { key, pattern } of TEMPLATES) {
    const match = pattern.exec(sentence);
    if (match) return { key, values: { ...match.groups } };
  }
  return undefined;
}
