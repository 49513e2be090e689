import { nearestName, plainName } from '../platform/http/nearest.ts';
import { Settings } from '../platform/settings/settings.ts';

/** First words that only fieldtrace's settings have: a variable that begins with one was meant for it. */
const FIRST_WORDS =
  /^(ASSET_REGISTRY|AUTH|BACKUP|COOKIE|CORS|DATABASE|FIELDTRACE|FX|NOTIFICATION|PACKET|S3|SMTP|TRACE|USER_REGISTRY|WEBHOOK)_/i;
/** Variables that Kubernetes and Docker set for neighbouring services: TRACE_PORT_8080_TCP, PACKET_SERVICE_HOST. */
const OF_CLUSTERS = /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP)(_|$)|_ENV_/i;
/** Read by the command `fieldtrace`. */
const OF_COMMANDS = ['FIELDTRACE_PASSWORD'];
/** Letters of a name that can be mistyped; shorter ones are near too much. */
const LONG_ENOUGH = 6;

/**
 * Environment variables that are no settings and were probably meant to be: AUTHMODE, PAKET_PORT, SMTP_HOST. Names that
 * systems and tools use, such as PORT or npm_config_proxy, are not among them.
 *
 * @returns one sentence each, with the name and never the value
 */
export function misspeltSettings(environment: Record<string, string | undefined>): string[] {
  const known = Object.keys(Settings.properties);
  return Object.keys(environment)
    .filter(name => /^\w{1,64}$/.test(name) && !known.includes(name) && !OF_COMMANDS.includes(name))
    .filter(name => !/^npm_/i.test(name) && !OF_CLUSTERS.test(name))
    .filter(name => (environment[name] ?? '') !== '')
    .flatMap(name => {
      // A setting of another kind would mislead: SECRETS_KEY for S3_SECRET_KEY.
      const kin = known.filter(setting => firstWord(setting) === firstWord(name));
      const near = nearestName(name, kin.length > 0 ? kin : known) ?? onlyOneLike(name, known);
      if (!FIRST_WORDS.test(name) && !isMisspelt(name, near)) return [];
      const hint = near === undefined ? 'docs/settings.md lists the settings' : `did you mean ${near}?`;
      return [`the environment variable ${name} is not a setting; ${hint}`];
    });
}

/** The one setting that begins with the same word: SMTP_URL for SMTP_HOST. */
function onlyOneLike(name: string, known: readonly string[]): string | undefined {
  const like = known.filter(setting => setting.startsWith(`${firstWord(name)}_`));
  return like.length === 1 ? like[0] : undefined;
}

function firstWord(name: string): string {
  return name.toUpperCase().split('_', 1)[0] as string;
}

/** Whether a name equals a setting except for underscores, case and one or two letters. */
function isMisspelt(name: string, near: string | undefined): boolean {
  if (near === undefined) return false;
  const [own, meant] = [plainName(name), plainName(near)];
  if (own === meant) return own.length >= LONG_ENOUGH;
  if (Math.min(own.length, meant.length) < LONG_ENOUGH) return false;
  return nearestName(name, [near], meant.length >= 12 ? 2 : 1) !== undefined;
}
