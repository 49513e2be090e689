import { type Static, type TObject, Type } from 'typebox';
import { Value } from 'typebox/value';

const port = (fallback: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65535, default: fallback, description });
const url = (description: string) =>
  Type.Optional(Type.String({ pattern: '^https?://[^\\s]+$', maxLength: 2048, description }));
const secret = (description: string, minLength = 1) =>
  Type.Optional(Type.String({ minLength, maxLength: 8192, description }));

/**
 * Every setting of the program: its type, its default and its meaning. docs/settings.md is this table in
 * words, and a test compares the two.
 */
export const Settings = Type.Object({
  SERVICES: Type.String({
    pattern: '^(packet|trace|packet,trace|trace,packet)$',
    default: 'packet,trace',
    description: 'which of the two services this process serves',
  }),
  HOST: Type.String({
    minLength: 1,
    maxLength: 255,
    default: '127.0.0.1',
    description: 'address to listen on',
  }),
  PACKET_PORT: port(8000, 'port of the packet service; 0 takes any free port and prints it'),
  TRACE_PORT: port(8080, 'port of the trace backend; 0 takes any free port and prints it'),
  DATA_DIR: Type.String({
    minLength: 1,
    maxLength: 4096,
    default: './data',
    description: 'folder of the embedded database and of everything else that is kept in files',
  }),
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://[^\\s]+$',
      maxLength: 4096,
      description: 'a PostgreSQL (15 or newer) to use; without it the embedded one runs in DATA_DIR',
    }),
  ),
  DATABASE_POOL: Type.Integer({
    minimum: 2,
    maximum: 200,
    default: 10,
    description: 'connections to the database, besides those of the batch writer',
  }),
  WRITER_LANES: Type.Integer({
    minimum: 1,
    maximum: 16,
    default: 2,
    description: 'connections that the batch writer writes packets through at the same time',
  }),
  AUTH_MODE: Type.Union([Type.Literal('off'), Type.Literal('optional'), Type.Literal('required')], {
    default: 'optional',
    description: 'whether tokens are ignored, checked when present, or needed for everything',
  }),
  USER_REGISTRY_JWT_SECRET: secret(
    'the secret that the user registry signs its tokens with (HS256); at least 32 bytes: shorter ones from 16 work with a warning',
    16,
  ),
  USER_REGISTRY_JWKS_URL: url('where the user registry publishes the keys it signs its tokens with'),
  USER_REGISTRY_ISSUER: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'the `iss` that tokens of the user registry must have',
    }),
  ),
  USER_REGISTRY_AUDIENCE: Type.Optional(
    Type.String({
      pattern: '^[^\\s,]+(,[^\\s,]+)*$',
      maxLength: 2048,
      description: 'one of these, separated by commas, must be in the `aud` of tokens of the user registry',
    }),
  ),
  USER_REGISTRY_URL: url(
    'where the user registry tells whom a contact belongs to: GET …/discoverability?contact=…',
  ),
  ASSET_REGISTRY_URL: url(
    'an AgStack asset registry (v1 or v2); without it the built-in registry resolves GeoIDs',
  ),
  ASSET_REGISTRY_TOKEN: secret('bearer token for the asset registry'),
  ASSET_REGISTRY_API_KEY: secret(
    'API-KEY header for the asset registry (v1), with ASSET_REGISTRY_CLIENT_SECRET',
  ),
  ASSET_REGISTRY_CLIENT_SECRET: secret('CLIENT-SECRET header for the asset registry (v1)'),
  ASSET_REGISTRY_STRICT: Type.Boolean({
    default: false,
    description: 'built-in registry: refuse points outside every registered field',
  }),
  PUBLIC_URL: url('what links in mails begin with; without it the address the service listens on'),
  TRACE_PUBLIC_URL: url(
    'what links in mails of the trace backend begin with; without it the address it listens on',
  ),
  TRACE_ADMIN_EMAIL: Type.Optional(
    Type.String({
      pattern: '^[^\\s@]+@[^\\s@]+$',
      maxLength: 255,
      description:
        'address of the first SYSTEM_ADMIN; without one an administrator with a random password is made',
    }),
  ),
  TRACE_ADMIN_PASSWORD: secret('password of the first SYSTEM_ADMIN', 8),
  TRACE_JWT_PRIVATE_KEY: secret(
    'PEM (PKCS #8) of an Ed25519 key that access tokens are signed with; without it one is made and kept in the database',
  ),
  SERVICE_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[!-~]{16,1000}$',
      description:
        'what the packet service shows the user registry at USER_REGISTRY_URL, and the trace backend asks for; without it one is made and kept in the database',
    }),
  ),
  SECRETS_KEY: Type.Optional(
    Type.String({
      pattern: '^[!-+\\--~]{32,1000}(,[!-+\\--~]{32,1000}){0,3}$',
      description:
        'what secrets in the database are encrypted with (signing keys, service token, second factors), 32 characters or more; of several, separated by commas, the first encrypts and all decrypt',
    }),
  ),
  FX_URL: url(
    'the exchange-rate provider (exchangeratesapi.io and its kin); without it only stored rates count',
  ),
  FX_ACCESS_KEY: secret('access key for the exchange-rate provider'),
  PASSWORD_POLICY: Type.Union([Type.Literal('basic'), Type.Literal('strict')], {
    default: 'basic',
    description: 'which passwords are refused: those of wrong length, or the most common ones too',
  }),
  SECOND_FACTOR_REQUIRED: Type.Optional(
    Type.String({
      pattern: '^(USER|REGIONAL_ADMIN|SYSTEM_ADMIN)(,(USER|REGIONAL_ADMIN|SYSTEM_ADMIN)){0,2}$',
      description:
        'roles that must log in to the trace backend with a second factor, separated by commas: USER, REGIONAL_ADMIN, SYSTEM_ADMIN',
    }),
  ),
  COOKIE_SECURE: Type.Union(
    (['auto', 'true', 'false'] as const).map(value => Type.Literal(value)),
    {
      default: 'auto',
      description: 'send cookies over HTTPS alone; auto: where TRACE_PUBLIC_URL is https',
    },
  ),
  COOKIE_SAMESITE: Type.Union(
    (['unset', 'lax', 'strict', 'none'] as const).map(value => Type.Literal(value)),
    { default: 'unset', description: 'the SameSite attribute of cookies' },
  ),
  CORS_ORIGINS: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s,/]+(,https?://[^\\s,/]+)*$',
      maxLength: 4096,
      description: 'origins of web pages that may call the services from a browser, separated by commas',
    }),
  ),
  RATE_LIMIT: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    description:
      'whether requests a minute and contacts an hour are limited; guards against guessing and against large requests always hold, and loopback is never limited by its address',
  }),
  STALL_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 60,
    description:
      'seconds after which a client is cut off that takes nothing of its answer, or whose body comes at less than 1 KiB/s on average over so long',
  }),
  METRICS_TOKEN: secret('bearer token that GET /metrics asks for; without one it is open', 16),
  S3_BUCKET: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 63,
      description: 'S3 bucket that files are kept in; without it they are files in DATA_DIR/files',
    }),
  ),
  S3_ENDPOINT: url('where S3 is, when it is not that of Amazon; buckets are then part of the path'),
  S3_REGION: Type.String({ minLength: 1, maxLength: 64, default: 'us-east-1', description: 'region of S3' }),
  S3_ACCESS_KEY_ID: secret('access key of S3; without it, what the machine itself may do'),
  S3_SECRET_ACCESS_KEY: secret('secret of S3_ACCESS_KEY_ID'),
  MAX_ATTACHMENT_BYTES: Type.Integer({
    minimum: 1,
    maximum: 4 * 1024 ** 3,
    default: 100 * 1024 ** 2,
    description: 'bytes of one attachment, at most',
  }),
  CONCURRENT_UPLOADS: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 32,
    description: 'attachments that one process takes in at the same time; further ones are told to come back',
  }),
  UPLOADS_PER_CALLER: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 8,
    description: 'files that one process takes in from one caller (user or address) at the same time',
  }),
  EXPORTS_PER_CALLER: Type.Integer({
    minimum: 1,
    maximum: 2,
    default: 1,
    description: 'graph exports that one caller (user or address) has running in one process, of two in all',
  }),
  FEEDS_PER_CALLER: Type.Integer({
    minimum: 1,
    maximum: 5000,
    default: 200,
    description:
      'live feeds that one caller (user or address) has open in one process, of 5,000 in all, and as many waiting sync requests',
  }),
  ATTACHMENT_EXPIRE_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36500,
    default: 30,
    description: 'days after which an attachment that no packet names is removed',
  }),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://[^\\s]+$',
      maxLength: 2048,
      description:
        'mail server, such as smtp://user:password@host:587; without it mails are files in DATA_DIR/mail',
    }),
  ),
  MAIL_FROM: Type.String({
    pattern: '^[^\\r\\n]*@[^\\r\\n]+$',
    maxLength: 320,
    default: 'fieldtrace@localhost',
    description: 'sender of mails, an address or Name <address>',
  }),
  WEBHOOK_URL: url('where notifications are posted to, signed with WEBHOOK_SECRET'),
  WEBHOOK_SECRET: secret(
    'the secret that notifications to WEBHOOK_URL are signed with (HMAC-SHA256); at least 32 bytes: shorter ones from 16 work with a warning',
    16,
  ),
  NOTIFICATION_TRIES: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'times that a mail or a webhook is tried before it is put aside as dead',
  }),
  NOTIFICATION_RETRY_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 10,
    description: 'wait before the second try; it doubles from try to try, up to two hours',
  }),
  LOG_LEVEL: Type.Union(
    (['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const).map(level =>
      Type.Literal(level),
    ),
    { default: 'info', description: 'least level of log lines; debug adds a line for every request' },
  ),
  TRUST_PROXY: Type.String({
    minLength: 1,
    maxLength: 4096,
    default: 'false',
    description:
      'reverse proxies in front, whose X-Forwarded-For tells the client address: true (one), how many, or their addresses and networks separated by commas',
  }),
  ALLOWED_HOSTS: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._-]+(,[A-Za-z0-9._-]+)*$',
      maxLength: 4096,
      description:
        'further names, separated by commas, that requests may have in Host where HOST is a loopback address and TRUST_PROXY is false',
    }),
  ),
});

export type Settings = Static<typeof Settings>;

/** A setting that keeps the program from starting. Its message names every bad setting, one a line. */
export class SettingsError extends Error {}

/**
 * Reads the settings from environment variables, once, at start. An empty variable counts as absent. Secrets
 * are never part of an error's text.
 *
 * @throws SettingsError that names every bad setting, what it was and what it may be
 */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const names = Object.keys(Settings.properties) as (keyof Settings)[];
  const given = Object.fromEntries(
    names
      .filter(name => (environment[name] ?? '') !== '')
      .map(name => [name, convert(Settings.properties[name], environment[name] ?? '')]),
  );
  const settings = Value.Default(Settings, given);
  if (Value.Check(Settings, settings)) return settings;

  const bad = new Set<keyof Settings>(
    [...Value.Errors(Settings, settings)].map(error => error.instancePath.split('/')[1] as keyof Settings),
  );
  throw new SettingsError([...bad].map(name => complaint(name, environment[name] ?? '')).join('\n'));
}

/** Bytes that a secret for HMAC-SHA256 should have: as many as its hash (RFC 2104 §3). */
const SECRET_BYTES = 32;

/** The names of secrets that are shorter than they should be. */
export function shortSecrets(settings: Settings): string[] {
  const names = ['USER_REGISTRY_JWT_SECRET', 'WEBHOOK_SECRET', 'SERVICE_TOKEN'] as const;
  return names.filter(name => {
    const { [name]: secret } = settings;
    return secret !== undefined && Buffer.byteLength(secret) < SECRET_BYTES;
  });
}

/** The settings' schema as rows of a table: name, default and meaning. */
export function describeSettings(schema: TObject = Settings) {
  return Object.entries(schema.properties).map(([name, property]) => {
    const { default: fallback, description } = property as { default?: unknown; description?: string };
    return { name, fallback: fallback === undefined ? 'none' : String(fallback), meaning: description ?? '' };
  });
}

/** Reads a number or a truth value only where the whole text is one; anything else is left for the check. */
function convert(schema: object, text: string): unknown {
  const { type } = schema as { type?: string };
  if (type === 'integer' && /^[0-9]{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function complaint(name: keyof Settings, value: string): string {
  const schema = Settings.properties[name] as object as Record<string, unknown>;
  const shown = /SECRET|TOKEN|KEY|PASSWORD|URL/.test(name) ? '' : ` (it is "${value.slice(0, 100)}")`;
  return `${name}${shown} ${allowed(schema)}: ${schema.description}`;
}

function allowed(schema: Record<string, unknown>): string {
  if (Array.isArray(schema.anyOf)) {
    return `must be one of ${schema.anyOf.map(option => (option as { const: string }).const).join(', ')}`;
  }
  if (schema.type === 'integer') return `must be a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === 'boolean') return 'must be true or false';
  if (schema.pattern) return `must match ${schema.pattern}`;
  return `must have ${schema.minLength} to ${schema.maxLength} characters`;
}
