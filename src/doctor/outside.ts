import { createLocalJWKSet } from 'jose';
import { keysFrom } from '../packet-service/core/access/authentication.ts';
import { tryRegistry } from '../packet-service/core/geoids/agstack.ts';
import { agstackOf } from '../packet-service/core/geoids/resolver.ts';
import { MailRefused, mailServerOf, tryMailServer } from '../platform/mail/mail.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { ProviderRefusal, tryProvider } from '../trace-backend/catalogue/currency/provider.ts';
import { error, type Finding, ok, warning } from './finding.ts';

/** Maximum time for a system to respond, in milliseconds. */
const PATIENCE_MS = 5000;

/**
 * Asks the systems that the settings name, as the services do: the user registry for its keys, the asset registry for a
 * point, the mail server for a login, the exchange-rate provider for the latest rates. Nothing is stored or sent by it.
 *
 * @param hasRates whether today's rates were retrieved: each request is one of those that the provider's key allows
 */
export async function checkOutside(settings: Settings, hasRates: () => Promise<boolean>): Promise<Finding[]> {
  const findings = await Promise.all([
    checkKeys(settings),
    checkRegistry(settings),
    checkMail(settings),
    checkRates(settings, hasRates),
  ]);
  return findings.flat();
}

async function checkKeys({ SERVICES, USER_REGISTRY_JWKS_URL: url }: Settings): Promise<Finding[]> {
  if (url === undefined || !SERVICES.includes('packet')) return [];
  const address = withoutSecrets(url);
  return attempt(
    async () => {
      const keys = await keysFrom(new URL(url), { timeoutMs: PATIENCE_MS, retries: 0 })();
      createLocalJWKSet(keys);
      const { length } = keys.keys;
      if (length === 0) throw new Error('the user registry publishes no keys');
      return ok('user registry', `publishes ${length} key${length === 1 ? '' : 's'} at ${address}`);
    },
    ({ name, message }) =>
      error(
        'user registry',
        `${name.startsWith('JWKS') ? 'the user registry sent an invalid JWKS' : message}: ${address}`,
        'correct USER_REGISTRY_JWKS_URL, or start the registry; without its keys, requests with a new token return 503',
      ),
  );
}

async function checkRegistry(settings: Settings): Promise<Finding[]> {
  const { ASSET_REGISTRY_URL: url, SERVICES } = settings;
  if (url === undefined || !SERVICES.includes('packet')) return [];
  const address = withoutSecrets(url);
  return attempt(
    async () => {
      await tryRegistry({ ...agstackOf(settings, url), limits: { timeoutMs: PATIENCE_MS, retries: 0 } });
      return ok('asset registry', `responds at ${address}`);
    },
    ({ message }) =>
      error(
        'asset registry',
        `${message}: ${address}`,
        'correct ASSET_REGISTRY_URL, ASSET_REGISTRY_TOKEN and its keys, or start it; without it, observations are rejected until clients send them again',
      ),
  );
}

async function checkMail(settings: Settings): Promise<Finding[]> {
  const { SMTP_URL: url } = settings;
  if (url === undefined) return [];
  const server = mailServerOf(settings);
  return attempt(
    async () => {
      await tryMailServer(url, PATIENCE_MS);
      return ok('mail server', `${server} accepts the login`);
    },
    cause =>
      cause instanceof MailRefused
        ? error('mail server', `${cause.message}: ${server}`, 'correct the user and the password in SMTP_URL')
        : warning(
            'mail server',
            `${cause.message}: ${server}`,
            'correct SMTP_URL, or repair the server; emails wait until then',
          ),
  );
}

async function checkRates(settings: Settings, hasRates: () => Promise<boolean>): Promise<Finding[]> {
  const { FX_URL, FX_ACCESS_KEY, SERVICES } = settings;
  if (FX_URL === undefined || !SERVICES.includes('trace')) return [];
  const address = withoutSecrets(FX_URL);
  if (FX_ACCESS_KEY === undefined)
    return [error('exchange rates', 'FX_URL is set but FX_ACCESS_KEY is missing', 'set FX_ACCESS_KEY')];
  if (await hasRates()) return [ok('exchange rates', `today's rates were retrieved from ${address}`)];
  return attempt(
    async () => {
      await tryProvider({ FX_URL, FX_ACCESS_KEY }, PATIENCE_MS);
      return ok('exchange rates', `the provider responds at ${address}`);
    },
    cause =>
      cause instanceof ProviderRefusal
        ? error('exchange rates', `${cause.message}: ${address}`, 'correct FX_ACCESS_KEY, or change its plan')
        : warning(
            'exchange rates',
            `${cause.message}: ${address}`,
            'correct FX_URL, or wait for the provider; older rates are used until then',
          ),
  );
}

async function attempt(work: () => Promise<Finding>, judge: (cause: Error) => Finding): Promise<Finding[]> {
  try {
    return [await work()];
  } catch (cause) {
    return [judge(cause as Error)];
  }
}

/** An address without user, password and query. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
