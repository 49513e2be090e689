import { Ajv } from 'ajv';
import type { Static } from 'typebox';
import { Type } from '../type.ts';
import { backupSettings } from './backup.ts';
import { complaint } from './text.ts';
import { BUCKET_RULES, port, secret, url } from './types.ts';

const services = {
  SERVICES: Type.String({
    pattern: '^(?!.*\\b(\\w+)\\b.*\\b\\1\\b)(packet|trace|console)(,(packet|trace|console)){0,2}$',
    allowed: 'packet, trace, console, or several of them separated by commas',
    default: 'packet,trace,console',
    description: 'services that this process runs; the console needs the other two in the same process',
  }),
  WORKERS: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 1,
    description: 'processes that serve the same ports; if more than one, an extra process supervises them',
  }),
  HOST: Type.String({
    minLength: 1,
    maxLength: 255,
    default: '127.0.0.1',
    description: 'address to listen on',
  }),
  PACKET_PORT: port(8000, 'port of the packet service; 0 picks any free port and prints it'),
  TRACE_PORT: port(8080, 'port of the trace backend; 0 picks any free port and prints it'),
  CONSOLE_PORT: port(8090, 'port of the web console; 0 picks any free port and prints it'),
  DRAIN_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 600,
    default: 0,
    description:
      'seconds between the stop signal and the stop, in which health returns 503 and requests are still served, so that load balancers can react',
  }),
};

const database = {
  DATA_DIR: Type.String({
    minLength: 1,
    maxLength: 4096,
    default: './data',
    description: 'folder of the embedded database, files and undelivered emails',
  }),
  DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://[^\\s]+$',
      allowed: 'a postgres:// or postgresql:// URL',
      maxLength: 4096,
      description: 'PostgreSQL server to use (15 or newer); without it, an embedded server runs in DATA_DIR',
    }),
  ),
  DATABASE_OWNER_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://[^\\s]+$',
      allowed: 'a postgres:// or postgresql:// URL',
      maxLength: 4096,
      description:
        'URL of the database in DATABASE_URL for the role that owns and migrates the tables; without it, one role does everything',
    }),
  ),
  READ_DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://[^\\s,]+(,postgres(ql)?://[^\\s,]+){0,7}$',
      allowed: 'one to eight postgres:// or postgresql:// URLs, separated by commas',
      maxLength: 16384,
      description:
        'standbys of the server of DATABASE_URL, from which the packet service reads pages, search, exports, tiles and sync; several are separated by commas (a comma in a password is %2C)',
    }),
  ),
  READ_MAX_LAG_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 10,
    description: 'maximum seconds that a standby of READ_DATABASE_URL can lag; slower standbys get no reads',
  }),
  DATABASE_POOL: Type.Integer({
    minimum: 2,
    maximum: 200,
    default: 10,
    description:
      'database connections of each service for requests, in addition to those of the batch writer and a few others',
  }),
};

const files = {
  S3_BUCKET: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 63,
      allowed: `the name of a bucket; ${BUCKET_RULES}`,
      description: 'S3 bucket for files; without it, files are stored in DATA_DIR/files',
    }),
  ),
  S3_ENDPOINT: url('S3 endpoint if it is not AWS; the bucket is then part of the path'),
  S3_REGION: Type.String({ minLength: 1, maxLength: 64, default: 'us-east-1', description: 'S3 region' }),
  S3_ACCESS_KEY_ID: secret("S3 access key; default: the machine's credentials"),
  S3_SECRET_ACCESS_KEY: secret('secret of S3_ACCESS_KEY_ID'),
  MAX_ATTACHMENT_BYTES: Type.Integer({
    minimum: 1,
    maximum: 4 * 1024 ** 3,
    default: 100 * 1024 ** 2,
    description: 'maximum size of an attachment in bytes',
  }),
  ATTACHMENT_EXPIRE_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36500,
    default: 30,
    description: 'days after which an attachment that no packet refers to is removed',
  }),
};

const addresses = {
  PUBLIC_URL: url('base URL of links in emails; default: the address that the service listens on'),
  TRACE_PUBLIC_URL: url(
    "base URL of links in the trace backend's emails; default: the address that it listens on",
  ),
  CONSOLE_PUBLIC_URL: url(
    'base URL of the console for links in emails; default: the address that the console listens on, or pages of the services if PUBLIC_URL or TRACE_PUBLIC_URL is set or the console does not run',
  ),
  TRACE_FRONTEND_URL: url(
    "base URL of another web front end: links in the trace backend's emails lead to its pages /confirm-email/{token} and /reset-password/{token} instead of the console's",
  ),
  CORS_ORIGINS: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s,/]+(,https?://[^\\s,/]+)*$',
      allowed: 'http:// or https:// origins without a path, separated by commas',
      maxLength: 4096,
      description: 'origins whose web pages can call the services, separated by commas',
    }),
  ),
  TRUST_PROXY: Type.String({
    minLength: 1,
    maxLength: 4096,
    default: 'false',
    allowed: 'false, true, a number of proxies, or addresses and networks separated by commas',
    description:
      'trusted reverse proxies, whose X-Forwarded-For contains the client address: true (one proxy), their number, or their addresses and networks separated by commas',
  }),
  ALLOWED_HOSTS: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._-]+(,[A-Za-z0-9._-]+)*$',
      allowed: 'host names separated by commas',
      maxLength: 4096,
      description:
        'additional host names, separated by commas, that requests can have in Host if HOST is a loopback address and TRUST_PROXY is false',
    }),
  ),
};

const mail = {
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://[^\\s]+$',
      allowed: 'an smtp:// or smtps:// URL',
      maxLength: 2048,
      description:
        'mail server, such as smtp://user:password@host:587; without it, emails are written to DATA_DIR/mail',
    }),
  ),
  MAIL_FROM: Type.String({
    pattern: '^[^\\r\\n]*@[^\\r\\n]+$',
    allowed: 'an email address, or a name and an address in angle brackets',
    maxLength: 320,
    default: 'fieldtrace@localhost',
    description: 'sender of emails, as an address or Name <address>',
  }),
  WEBHOOK_URL: url('URL to which notifications are posted, signed with WEBHOOK_SECRET'),
  WEBHOOK_SECRET: secret(
    'secret that signs notifications to WEBHOOK_URL (HMAC-SHA256); at least 16 bytes, and fewer than 32 log a warning',
    16,
  ),
  NOTIFICATION_TRIES: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'attempts to deliver an email or webhook before it becomes a dead letter',
  }),
  NOTIFICATION_RETRY_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 10,
    description: 'seconds before the second attempt; the wait doubles with each attempt, up to two hours',
  }),
};

const access = {
  AUTH_MODE: Type.Union([Type.Literal('off'), Type.Literal('optional'), Type.Literal('required')], {
    default: 'optional',
    description:
      'whether tokens are ignored (off), checked if present (optional), or required for every request (required)',
  }),
  USER_REGISTRY_JWT_SECRET: secret(
    'secret that the user registry signs its tokens with (HS256); at least 16 bytes, and fewer than 32 log a warning',
    16,
  ),
  USER_REGISTRY_JWKS_URL: url('URL of the JWKS with the public keys of the user registry'),
  USER_REGISTRY_ISSUER: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2048,
      description: '`iss` that tokens of the user registry must have',
    }),
  ),
  USER_REGISTRY_AUDIENCE: Type.Optional(
    Type.String({
      pattern: '^[^\\s,]+(,[^\\s,]+)*$',
      allowed: 'names without spaces, separated by commas',
      maxLength: 2048,
      description:
        'audiences, separated by commas; `aud` of tokens of the user registry must contain one of them',
    }),
  ),
  USER_REGISTRY_URL: url(
    'base URL of the user registry, for finding users by contact (GET …/discoverability?contact=…) and looking up API keys (POST …/user/api-keys/resolve)',
  ),
  TRACE_ADMIN_EMAIL: Type.Optional(
    Type.String({
      pattern: '^[^\\s@]+@[^\\s@]+$',
      allowed: 'an email address',
      maxLength: 255,
      description:
        'email address of the first SYSTEM_ADMIN; without it, one with a random password is created',
    }),
  ),
  TRACE_ADMIN_PASSWORD: secret('password of the first SYSTEM_ADMIN', 8),
  TRACE_JWT_PRIVATE_KEY: secret(
    'Ed25519 private key (PEM, PKCS #8) for signing access tokens; without it, one is generated and stored in the database',
  ),
  SERVICE_TOKEN: Type.Optional(
    Type.String({
      pattern: '^[!-~]{16,1000}$',
      allowed: '16 to 1000 printable ASCII characters without spaces',
      description:
        'token that the packet service sends to the user registry at USER_REGISTRY_URL, and that the trace backend requires for it; without it, one is generated and stored in the database',
    }),
  ),
  SECRETS_KEY: Type.Optional(
    Type.String({
      pattern: '^[!-+\\--~]{32,1000}(,[!-+\\--~]{32,1000}){0,3}$',
      allowed: 'one to four keys of 32 to 1000 printable ASCII characters, separated by commas',
      description:
        'key that encrypts secrets in the database (signing keys, service token, second factors), at least 32 characters; with several keys, separated by commas, the first encrypts and all decrypt',
    }),
  ),
  PASSWORD_POLICY: Type.Union([Type.Literal('basic'), Type.Literal('strict')], {
    default: 'strict',
    description:
      'which passwords are rejected: only those of the wrong length (basic), or also the most common ones (strict)',
  }),
  SECOND_FACTOR_REQUIRED: Type.Optional(
    Type.String({
      pattern: '^(USER|REGIONAL_ADMIN|SYSTEM_ADMIN)(,(USER|REGIONAL_ADMIN|SYSTEM_ADMIN)){0,2}$',
      allowed: 'up to three of USER, REGIONAL_ADMIN, SYSTEM_ADMIN, separated by commas',
      description:
        'roles that must log in to the trace backend with a second factor, separated by commas: USER, REGIONAL_ADMIN, SYSTEM_ADMIN',
    }),
  ),
  COOKIE_SECURE: Type.Union(
    (['auto', 'true', 'false'] as const).map(value => Type.Literal(value)),
    {
      default: 'auto',
      description: 'whether cookies are sent only over HTTPS; auto: if TRACE_PUBLIC_URL is https',
    },
  ),
  COOKIE_SAMESITE: Type.Union(
    (['unset', 'lax', 'strict', 'none'] as const).map(value => Type.Literal(value)),
    { default: 'unset', description: 'SameSite attribute of cookies' },
  ),
};

const registries = {
  ASSET_REGISTRY_URL: url(
    'URL of an AgStack asset registry (v1 or v2); without it, the built-in registry resolves GeoIDs',
  ),
  ASSET_REGISTRY_TOKEN: secret('bearer token for the asset registry'),
  ASSET_REGISTRY_API_KEY: secret(
    'API-KEY header for the asset registry (v1), with ASSET_REGISTRY_CLIENT_SECRET',
  ),
  ASSET_REGISTRY_CLIENT_SECRET: secret('CLIENT-SECRET header for the asset registry (v1)'),
  ASSET_REGISTRY_STRICT: Type.Boolean({
    default: false,
    description: 'built-in registry: reject points outside every registered field',
  }),
  FX_URL: url(
    'URL of the exchange-rate provider (exchangeratesapi.io or compatible); without it, only stored rates are used',
  ),
  FX_ACCESS_KEY: secret('access key for the exchange-rate provider'),
};

const limits = {
  RATE_LIMIT: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    description:
      'limits on requests per minute and contacts per hour; limits on guessing and sizes are always on, and loopback addresses are exempt from limits per address',
  }),
  STALL_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 60,
    description:
      'seconds after which clients are disconnected that read nothing of their response or send their body slower than 1 KiB/s on average',
  }),
  CONCURRENT_UPLOADS: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 32,
    description: 'maximum concurrent uploads of attachments per process; more return 503 with Retry-After',
  }),
  UPLOADS_PER_CALLER: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 8,
    description: 'maximum concurrent uploads per caller (user or address), over all processes',
  }),
  FEEDS_PER_CALLER: Type.Integer({
    minimum: 1,
    maximum: 5000,
    default: 200,
    description:
      'maximum open live feeds, and also waiting sync requests, per caller (user or address), over all processes; a process allows 5,000 of each',
  }),
};

const observability = {
  SLOW_STATEMENT_MILLISECONDS: Type.Integer({
    minimum: 0,
    maximum: 600_000,
    default: 1000,
    description:
      'duration in milliseconds from which a database statement is logged as slow, by name; 0 logs none',
  }),
  METRICS_TOKEN: secret('bearer token that GET /metrics requires; without it, the endpoint is open', 16),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'base URL of an OpenTelemetry collector (OTLP over HTTP) that receives traces of requests and statements; the SDK reads its other OTEL_ variables itself',
  ),
  LOG_LEVEL: Type.Union(
    (['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const).map(level =>
      Type.Literal(level),
    ),
    { default: 'info', description: 'minimum level of log lines; debug adds a line for every request' },
  ),
};

/** The settings by what they are about. */
export const GROUPS = {
  services,
  database,
  backups: backupSettings,
  files,
  addresses,
  mail,
  access,
  registries,
  limits,
  observability,
};

/**
 * Every setting of the program: its type, its default and its meaning; `allowed` is its pattern in words. The table in
 * docs/settings.md is written from this by `npm run settings`, and a test compares the two.
 */
export const Settings = Type.Object({
  ...services,
  ...database,
  ...backupSettings,
  ...files,
  ...addresses,
  ...mail,
  ...access,
  ...registries,
  ...limits,
  ...observability,
});

export type Settings = Static<typeof Settings>;

/** Invalid settings. The message lists every bad setting, one per line. */
export class SettingsError extends Error {}

/**
 * Reads the settings from environment variables, once, at start. An empty variable counts as absent. Secrets are
 * never part of an error's text.
 *
 * @throws SettingsError that lists every bad setting with its value and the allowed ones
 */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const names = Object.keys(Settings.properties) as (keyof Settings)[];
  const named = names.filter(name => (environment[name] ?? '') !== '');
  const values = Object.fromEntries(
    names
      .map(name => {
        const schema = Settings.properties[name];
        const value = named.includes(name) ? convert(schema, environment[name] ?? '') : defaultOf(schema);
        return [name, value] as const;
      })
      .filter(([, value]) => value !== undefined),
  ) as Settings;
  // Only schemas of given settings are compiled, and they are not checked against the schema of schemas: to compile all
  // takes a tenth of the time of a start. Defaults and optional settings are held to their schemas by a test.
  const properties = Object.fromEntries(named.map(name => [name, Settings.properties[name]]));
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  const check = ajv.compile({ type: 'object', properties });
  if (check(values)) return values;

  const bad = new Set(check.errors?.map(error => error.instancePath.split('/')[1] as keyof Settings));
  throw new SettingsError(
    [...bad].map(name => complaint(name, Settings.properties[name], environment[name] ?? '')).join('\n'),
  );
}

const defaultOf = (schema: object) => (schema as { default?: unknown }).default;

/** Minimum bytes of a secret for HMAC-SHA256: the length of its hash (RFC 2104 §3). */
const SECRET_BYTES = 32;

/** The names of secrets that are shorter than they should be. */
export function shortSecrets(settings: Settings): string[] {
  const names = ['USER_REGISTRY_JWT_SECRET', 'WEBHOOK_SECRET', 'SERVICE_TOKEN'] as const;
  return names.filter(name => {
    const { [name]: secret } = settings;
    return secret !== undefined && Buffer.byteLength(secret) < SECRET_BYTES;
  });
}

/** Converts texts that are entirely a number or boolean; the validation handles the rest. */
function convert(schema: object, text: string): unknown {
  const { type } = schema as { type?: string };
  if (type === 'integer' && /^[0-9]{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
