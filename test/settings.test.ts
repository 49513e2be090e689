import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { misspeltSettings } from '../src/doctor/misspelt-settings.ts';
import { readSettings, Settings } from '../src/platform/settings/settings.ts';

/** Variables that systems and tools set, and some that are settings or belong to commands. */
const USUAL = `
  PATH HOME HOST HOSTNAME HOSTTYPE PORT USER LOGNAME MAIL MAILCHECK SHELL LANG LC_ALL TERM PWD OLDPWD
  SHLVL TZ TMPDIR DISPLAY EDITOR COLUMNS _ NODE_ENV NODE_OPTIONS NODE_COMPILE_CACHE npm_config_registry
  npm_lifecycle_event INIT_CWD npm_package_name npm_config_user_agent PGHOST PGPASSWORD
  AWS_ACCESS_KEY_ID AWS_REGION HTTP_PROXY https_proxy NO_PROXY SSH_AUTH_SOCK SUDO_USER XDG_DATA_DIRS
  XDG_RUNTIME_DIR KUBERNETES_SERVICE_HOST TRACE_SERVICE_HOST PACKET_PORT_8000_TCP_ADDR SOCKET_PORT
  TRACEPARENT JOURNAL_STREAM INVOCATION_ID NOTIFY_SOCKET LISTEN_FDS CI DEBUG VITEST SECRET
  FIELDTRACE_PASSWORD DATABASE_URL AUTH_MODE`
  .trim()
  .split(/\s+/);

test('an unset setting has its default, which its schema allows, or is absent', () => {
  const settings = Object.entries(Settings.properties).map(([name, schema]) => ({
    name,
    schema,
    isOptional: '~optional' in schema,
    value: (schema as { default?: unknown }).default,
  }));
  const withDefault = settings.filter(({ value }) => value !== undefined);
  const required = settings.filter(({ isOptional }) => !isOptional);
  expect(withDefault).toEqual(expect.arrayContaining(required));
  const ajv = new Ajv({ strict: false });
  for (const { name, schema, value } of withDefault) {
    expect(ajv.validate(schema, value), `${name}: ${ajv.errorsText()}`).toBe(true);
  }
});

test('the refusal of a bucket name says which names S3 allows', () => {
  const rules =
    /a bucket name has 3 to 63 lower-case letters, digits, hyphens and dots, and begins and ends with /;
  for (const settings of [
    { S3_BUCKET: 'ab' },
    { BACKUP_URL: 's3://My_Bucket/station' },
    { BACKUP_URL: 's3://-a/x' },
  ])
    expect(() => readSettings(settings)).toThrow(rules);
  expect(readSettings({ BACKUP_URL: 's3://my.bucket-1/station' }).BACKUP_URL).toBe(
    's3://my.bucket-1/station',
  );
});

test('misspelt settings are found, and variables of systems and tools are ignored', () => {
  const meant = {
    AUTHMODE: 'AUTH_MODE',
    auth_mode: 'AUTH_MODE',
    AUTH_MODES: 'AUTH_MODE',
    DATABASEURL: 'DATABASE_URL',
    DATABASE_URI: 'DATABASE_URL',
    PACKETPORT: 'PACKET_PORT',
    PAKET_PORT: 'PACKET_PORT',
    TRACE_PUBLICURL: 'TRACE_PUBLIC_URL',
    RATELIMIT: 'RATE_LIMIT',
    USER_REGISTRY_JWT_SECRETS: 'USER_REGISTRY_JWT_SECRET',
    SMTP_HOST: 'SMTP_URL',
    DATADIR: 'DATA_DIR',
  };
  for (const [name, setting] of Object.entries(meant)) {
    const sentence = `the environment variable ${name} is not a setting; did you mean ${setting}?`;
    expect(misspeltSettings({ [name]: 'hunter2' })).toEqual([sentence]);
  }
  for (const name of ['FIELDTRACE_COLOUR_OF_THE_SKY', 'S3_SECRET_KEY']) {
    expect(misspeltSettings({ [name]: 'hunter2' })).toEqual([
      `the environment variable ${name} is not a setting; docs/settings.md lists the settings`,
    ]);
  }
  expect(misspeltSettings(Object.fromEntries(USUAL.map(name => [name, 'x'])))).toEqual([]);
  expect(misspeltSettings({ AUTHMODE: '' })).toEqual([]);
});
