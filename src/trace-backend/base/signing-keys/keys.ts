import { createPrivateKey } from 'node:crypto';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import { type Settings, SettingsError } from '../../../platform/settings/settings.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import { keySetTokenCheck, type TokenCheck } from '../../../platform/tokens/tokens.ts';
import { audit, PROGRAM } from '../audit/audit.ts';
import { keyContext } from './sealed.ts';
import { deleteKeys, findKeys, insertKey, lockFirstStart, type StoredKey } from './store.ts';

/** Lifetime of an access token, in seconds. */
export const ACCESS_SECONDS = 3600;
/** How long keys are cached, in milliseconds. */
const CACHE_MS = 60_000;
/** Age at which a key starts to sign, in milliseconds: by then every process and packet service has read it. */
const SETTLE_MS = 2 * CACHE_MS;
/**
 * How long a key stays published after its successor was created, in milliseconds: by then all its tokens have
 * expired.
 */
const PUBLISH_MS = (ACCESS_SECONDS + 600) * 1000;

/** The keys for signing and checking access tokens. */
export interface Keys {
  /** Signs claims as an access token: Ed25519, with iat, exp and jti. */
  sign(claims: JWTPayload & { sub: string }): Promise<string>;
  check: TokenCheck;
  /** The key set of /.well-known/jwks.json: the public keys whose tokens may still be valid. */
  publicKeys(): Promise<JSONWebKeySet>;
}

interface KeyRing {
  readAt: number;
  signing: JWK;
  published: JWK[];
}

/**
 * The keys, from TRACE_JWT_PRIVATE_KEY or from the database, where the first one is created if there is none. Keys
 * are cached for a minute.
 *
 * @throws SettingsError when TRACE_JWT_PRIVATE_KEY is no Ed25519 key
 */
export async function openKeys(
  pool: pg.Pool,
  box: SecretBox,
  settings: Pick<Settings, 'TRACE_JWT_PRIVATE_KEY'>,
): Promise<Keys> {
  const configured = settings.TRACE_JWT_PRIVATE_KEY
    ? await readKey(settings.TRACE_JWT_PRIVATE_KEY)
    : undefined;
  let reading: Promise<KeyRing> | undefined;
  let ring: KeyRing | undefined;

  /**
   * @param maxAge of the cache, in milliseconds
   */
  async function current(maxAge: number): Promise<KeyRing> {
    if (ring && performance.now() - ring.readAt < maxAge) return ring;
    reading ??= readRing(pool, box, configured).finally(() => {
      reading = undefined;
    });
    try {
      ring = await reading;
    } catch (error) {
      // Cached keys stay in use while the database is unreachable.
      if (!ring) throw error;
    }
    return ring;
  }

  return {
    async sign(claims) {
      const { signing } = await current(CACHE_MS);
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT(claims)
        .setProtectedHeader({ alg: 'EdDSA', kid: signing.kid as string, typ: 'JWT' })
        .setIssuedAt(now)
        .setExpirationTime(now + ACCESS_SECONDS)
        .setJti(crypto.randomUUID())
        .sign(await importJWK(signing, 'EdDSA'));
    },
    check: keySetTokenCheck(async () => ({ keys: (await current(0)).published }), CACHE_MS),
    publicKeys: async () => ({ keys: (await current(CACHE_MS)).published }),
  };
}

async function readRing(pool: pg.Pool, box: SecretBox, configured: JWK | undefined): Promise<KeyRing> {
  const readAt = performance.now();
  let stored = await findKeys(pool);
  if (stored.length === 0 && !configured) {
    await makeKey(pool, box, count => count === 0);
    stored = await findKeys(pool);
  }
  const now = Date.now();
  const alive = stored.filter(
    (_, n) => n === 0 || now - (stored[n - 1]?.createdAt.getTime() ?? 0) < PUBLISH_MS,
  );
  const read = ({ kid, privateKey }: StoredKey) => JSON.parse(box.open(privateKey, keyContext(kid))) as JWK;
  const keys = [...(configured ? [configured] : []), ...alive.map(read)];
  const settled = alive.findIndex(({ createdAt }) => now - createdAt.getTime() >= SETTLE_MS);
  // The first key has no predecessor to wait for.
  const signing = configured ?? keys.at(settled);
  return { readAt, signing: signing as JWK, published: keys.map(publicHalf) };
}

function publicHalf({ kty, crv, x, kid }: JWK): JWK {
  return { kty, crv, x, kid, use: 'sig', alg: 'EdDSA' } as JWK;
}

async function readKey(pem: string): Promise<JWK> {
  try {
    // Variables in service files often contain line breaks as \n.
    const jwk = createPrivateKey(pem.replaceAll('\\n', '\n')).export({ format: 'jwk' }) as JWK;
    if (jwk.crv !== 'Ed25519') throw new Error('not Ed25519');
    return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
  } catch {
    throw new SettingsError(
      'TRACE_JWT_PRIVATE_KEY must be the PEM (PKCS #8) of an Ed25519 key: openssl genpkey -algorithm ed25519',
    );
  }
}

/**
 * Creates a key that is published within a minute and signs after two minutes; the first key signs at once. Deletes keys
 * when all their tokens have expired.
 *
 * @param when decides by the number of existing keys
 * @param atOnce whether all earlier keys are deleted, as after a leak: the new key signs within a minute; tokens of the
 *   others are refused within three minutes in this process, and later by packet services on other machines
 * @returns the new key's id, if one was created
 */
export async function makeKey(
  pool: pg.Pool,
  box: SecretBox,
  when: (count: number) => boolean = () => true,
  { atOnce = false } = {},
): Promise<string | undefined> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  return transaction(pool, async database => {
    await lockFirstStart(database);
    const stored = await findKeys(database);
    if (!when(stored.length)) return undefined;
    const now = new Date();
    const ended = stored.filter(
      (_, n) => atOnce || (n > 0 && now.getTime() - (stored[n - 1]?.createdAt.getTime() ?? 0) > PUBLISH_MS),
    );
    await deleteKeys(
      database,
      ended.map(key => key.kid),
    );
    const privateKey = box.seal(JSON.stringify({ ...jwk, kid }), keyContext(kid));
    await insertKey(database, { kid, privateKey, createdAt: now });
    const action = stored.length === 0 ? 'MAKE_KEY' : 'ROTATE_KEYS';
    await audit(database, PROGRAM, { action, entity: 'signing_key', entityId: kid, details: { atOnce } });
    return kid;
  });
}
