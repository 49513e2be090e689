import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export const JWT_SECRET = 'the secret that both sides share';

/** Claims as the user registry gives them; a test changes what it is about. */
export function claims(user: string, changes: JWTPayload = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return {
    sub: user,
    uuid: user,
    domain: 'example',
    is_activated: true,
    type: 'access',
    jti: 'j',
    iat: now,
    nbf: now,
    exp: now + 4 * 3600,
    fresh: false,
    ...changes,
  };
}

/** A token signed with the shared secret; a change to undefined leaves the claim out. */
export function secretToken(
  user: string,
  changes: JWTPayload = {},
  secret = JWT_SECRET,
  alg = 'HS256',
): Promise<string> {
  const payload = JSON.parse(JSON.stringify(claims(user, changes)));
  return new SignJWT(payload).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
}

/** Headers of a request with this token. */
export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

export interface KeyServer {
  url: string;
  /** how often it was asked */
  requests: number;
  /** what it does when asked */
  behaviour: 'answer' | 'fail' | 'nonsense';
  /** publishes a new key in place of the old ones; gives what signs tokens with it */
  rotate(alg?: string): Promise<(user: string, changes?: JWTPayload) => Promise<string>>;
  stop(): Promise<void>;
}

/** A user registry's published keys (JWKS) on loopback, which can rotate them, fail, or talk nonsense. */
export async function keyServer(): Promise<KeyServer> {
  let keys: JWK[] = [];
  let count = 0;
  const http = createServer((request, response) => {
    // The registry finds no user by contact.
    if (!request.url?.endsWith('/jwks.json')) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    server.requests++;
    if (server.behaviour === 'fail') response.writeHead(503).end();
    else if (server.behaviour === 'nonsense') response.end('<html>');
    else response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  });
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
  const server: KeyServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/jwks.json`,
    requests: 0,
    behaviour: 'answer',
    async rotate(alg = 'RS256') {
      const { publicKey, privateKey } = await generateKeyPair(alg);
      const kid = `key ${++count}`;
      keys = [{ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }];
      return (user, changes) =>
        new SignJWT(JSON.parse(JSON.stringify(claims(user, changes))))
          .setProtectedHeader({ alg, kid })
          .sign(privateKey);
    },
    async stop() {
      http.closeAllConnections();
      await new Promise(resolve => http.close(resolve));
    },
  };
  return server;
}

/** A trace backend in another process, reduced to what a packet service uses: its keys. */
export interface TraceKeys {
  /** settings of a packet service whose users it has */
  settings: Record<string, string>;
  token(user: string, changes?: JWTPayload): Promise<string>;
  stop(): Promise<void>;
}

/** The keys of a trace backend on loopback, and tokens signed with them. */
export async function traceKeys(): Promise<TraceKeys> {
  const keys = await keyServer();
  const sign = await keys.rotate('EdDSA');
  const { origin } = new URL(keys.url);
  return {
    settings: {
      USER_REGISTRY_JWKS_URL: `${origin}/.well-known/jwks.json`,
      USER_REGISTRY_URL: `${origin}/api`,
    },
    token: sign,
    stop: keys.stop,
  };
}
