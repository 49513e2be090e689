import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import type { LoggedIn, RunningTrace } from './trace.ts';

/** Cookies that name a real user and must not count. */
export async function badCookies(
  trace: RunningTrace,
  owner: LoggedIn,
): Promise<Record<string, string | undefined>> {
  const [name, token] = owner.cookie.split('=') as [string, string];
  const [head, claims, signature] = token.split('.') as [string, string, string];
  const payload = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const header = JSON.parse(Buffer.from(head, 'base64url').toString());
  const other = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const sign = (body: object) => new SignJWT({ ...body }).setProtectedHeader(header).sign(other.privateKey);
  const admin = Buffer.from(JSON.stringify({ ...payload, role: 'SYSTEM_ADMIN', sub: '1' })).toString(
    'base64url',
  );
  const publicKey = JSON.stringify((await trace.registry.publicKeys()).keys[0]);
  const symmetric = await new SignJWT(payload)
    .setProtectedHeader({ alg: 'HS256', kid: header.kid })
    .sign(new TextEncoder().encode(publicKey));
  const bad: Record<string, string> = {
    'no token': '',
    'not a token': 'x.y.z',
    'signed by another key': await sign(payload),
    'with other claims': `${head}.${admin}.${signature}`,
    unsigned: new UnsecuredJWT(payload).encode(),
    'the public key as a secret': symmetric,
    'a key of its own': await new SignJWT(payload)
      .setProtectedHeader({ alg: 'EdDSA', jwk: await exportJWK(other.publicKey) })
      .sign(other.privateKey),
    'not an access token': await signedByUs(trace, { ...payload, type: 'refresh' }, header.kid),
    expired: await signedByUs(trace, { ...payload, exp: Math.floor(Date.now() / 1000) - 60 }, header.kid),
    'of an earlier session': await signedByUs(trace, { ...payload, ver: payload.ver - 1 }, header.kid),
    'of nobody': await signedByUs(trace, { ...payload, sub: '999999' }, header.kid),
  };
  return {
    'no cookie': undefined,
    ...Object.fromEntries(Object.entries(bad).map(([kind, value]) => [kind, `${name}=${value}`])),
  };
}

/** Signs with the service's own key, as it never would. */
async function signedByUs(trace: RunningTrace, claims: object, kid: string): Promise<string> {
  const { rows } = await trace.pool.query('SELECT private_key FROM signing_keys WHERE kid = $1', [kid]);
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'EdDSA', kid })
    .sign(JSON.parse(rows[0].private_key));
}
