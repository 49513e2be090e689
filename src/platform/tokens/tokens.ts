import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { Problem } from '../http/problems.ts';

/** Clock difference between the issuer and us that is tolerated, in seconds. */
const CLOCK_TOLERANCE = 30;
/** Age at which a key set is fetched again by default, in milliseconds. */
const REFRESH_MS = 10 * 60 * 1000;
/** An unknown key leads to another fetch at most this often, in milliseconds: anyone can make up key ids. */
const UNKNOWN_KEY_MS = 2 * 1000;
/** Asymmetric algorithms only: a public key must never be taken for a shared secret. */
const JWKS_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'];

/**
 * Checks a token and gives its claims.
 *
 * @throws Problem unauthenticated when it is not valid, unavailable when the keys cannot be fetched
 */
export type TokenCheck = (token: string) => Promise<JWTPayload>;

/** Tokens whose signature was found good are remembered: as many as this. */
const REMEMBERED_TOKENS = 10_000;
/** How long, in milliseconds: a key can be withdrawn while its tokens are in use. */
const REMEMBERED_MS = 60_000;

/** Wraps a check to verify the signature of a token once a minute and otherwise only check its expiry. */
export function rememberingCheck(check: TokenCheck): TokenCheck {
  const good = new LRUCache<string, { claims: JWTPayload; until: number }>({ max: REMEMBERED_TOKENS });
  return async token => {
    const now = Date.now();
    const known = good.get(token);
    if (known && known.until > now) return known.claims;
    const claims = await check(token);
    const until = Math.min((claims.exp as number) * 1000, now + REMEMBERED_MS);
    good.set(token, { claims, until });
    return claims;
  };
}

/** The `iss` and `aud` that a token must have; anything is accepted for what is left out. */
export interface Expected {
  issuer?: string | undefined;
  /** any of these must be among the token's `aud` */
  audience?: string[] | undefined;
}

/** Checks tokens signed with a secret that we share with the issuer: HS256 and nothing else. */
export function secretTokenCheck(secret: string, expected: Expected = {}): TokenCheck {
  const key = new TextEncoder().encode(secret);
  return token => verify(options => jwtVerify(token, key, { ...options, algorithms: ['HS256'] }), expected);
}

/**
 * Checks tokens with the issuer's published keys. The set is cached; it is fetched again when it is old, and for a
 * token whose key is not in it (the issuer rotated its keys). While the issuer cannot be reached, the cached keys
 * remain valid. The algorithm follows from the key's kind (jose picks only keys that fit it).
 *
 * @param fetchKeys fetches the JWKS of the issuer
 * @param refreshMs the age at which a key set is fetched again, in milliseconds
 */
export function keySetTokenCheck(
  fetchKeys: () => Promise<JSONWebKeySet>,
  refreshMs = REFRESH_MS,
  expected: Expected = {},
): TokenCheck {
  const keys = cachedKeySet(fetchKeys, refreshMs);
  return async token => {
    const known = await keys.current();
    try {
      return await verify(
        options => jwtVerify(token, known, { ...options, algorithms: JWKS_ALGORITHMS }),
        expected,
      );
    } catch (error) {
      if (!((error as Problem).cause instanceof errors.JWKSNoMatchingKey)) throw error;
      const renewed = await keys.renewed();
      return verify(
        options => jwtVerify(token, renewed, { ...options, algorithms: JWKS_ALGORITHMS }),
        expected,
      );
    }
  };
}

function cachedKeySet(fetchKeys: () => Promise<JSONWebKeySet>, refreshMs: number) {
  type KeySet = ReturnType<typeof createLocalJWKSet>;
  let kept: KeySet | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<KeySet> | undefined;

  async function fetchNow(): Promise<KeySet> {
    try {
      kept = createLocalJWKSet(await fetchKeys());
    } catch (error) {
      if (!kept) {
        throw new Problem('issuer.away', {}, { retryAfter: 10, cause: error });
      }
    }
    return kept;
  }

  function fetchShared(): Promise<KeySet> {
    fetchedAt = Date.now();
    asking ??= fetchNow().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return {
    /** The keys to try first; an old set is renewed during the request, not before it. */
    async current(): Promise<KeySet> {
      if (!kept) return fetchShared();
      if (Date.now() - fetchedAt > refreshMs) fetchShared().catch(() => {});
      return kept;
    },
    /** The keys after asking again, unless that was just done. */
    async renewed(): Promise<KeySet> {
      if (kept && !asking && Date.now() - fetchedAt < UNKNOWN_KEY_MS) return kept;
      return fetchShared();
    },
  };
}

type Verified = { payload: JWTPayload; protectedHeader: { typ?: string | undefined } };

async function verify(
  check: (options: JWTVerifyOptions) => Promise<Verified>,
  { issuer, audience }: Expected,
): Promise<JWTPayload> {
  const options = {
    clockTolerance: CLOCK_TOLERANCE,
    requiredClaims: ['sub', 'exp'],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  const verified = await check(options).catch(error => {
    const reason = error instanceof errors.JWTExpired ? 'token.expired' : 'token.invalid';
    throw new Problem(reason, {}, { cause: error });
  });
  if (isOtherKind(verified)) throw new Problem('token.other_kind');
  return verified.payload;
}

/** The `type` or `typ` of other tokens of identity providers; some sign them with the same keys. */
const OTHER_KINDS = /^(id|logout|offline|refresh)$/i;

/**
 * Whether a token is an ID token (OpenID Connect Core §3.1.3.6: at_hash), a logout token (Back-Channel Logout §2.4: typ
 * and events) or a refresh token.
 */
function isOtherKind({ payload, protectedHeader }: Verified): boolean {
  const { type, typ, events, at_hash } = payload;
  if (/^(application\/)?logout\+jwt$/i.test(protectedHeader.typ ?? '')) return true;
  if (events !== undefined || at_hash !== undefined) return true;
  return [type, typ].some(kind => kind !== undefined && (typeof kind !== 'string' || OTHER_KINDS.test(kind)));
}
