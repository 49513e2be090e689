import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { sendText } from '../../../platform/http/server.ts';
import { canonicalJson } from '../packet-format/jcs.ts';
import { claimKey, findAnswers, type Key, type StoredAnswer } from './store.ts';

/** The header's name as in the schemas of routes. */
export const IDEMPOTENCY_HEADER = 'idempotency-key';

/** The Idempotency-Key header, whose length the schemas of the routes check. */
export function keyText({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return headers[IDEMPOTENCY_HEADER] as string | undefined;
}

/**
 * The Idempotency-Key of a request, when it carries one. A key belongs to one caller and one path; two bodies are
 * equal if their canonical JSON is.
 */
export function readKey(request: FastifyRequest): Key | undefined {
  const key = keyText(request);
  return key === undefined ? undefined : makeKey(request, routeOf(request), key, request.body);
}

/** The method and path of a request, which are part of its key. */
export function routeOf({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): string {
  // A trailing slash does not matter.
  return `${method} ${(url.split('?')[0] ?? '').replace(/(?<=.)\/$/, '')}`;
}

/**
 * The key of a body that came inside another request, as if it had come alone.
 *
 * @param route method and path that the body would have been sent to
 */
export function makeKey(
  { user }: Pick<FastifyRequest, 'user'>,
  route: string,
  key: string,
  body: unknown,
): Key {
  const fingerprint = createHash('sha256')
    .update(canonicalJson(body ?? null))
    .digest();
  return { caller: user ?? '', route, key, fingerprint };
}

/**
 * The first answer to the same request, if there was one. Looked up before any work is done, so that a retry gets it
 * even if the work would fail this time, for example because the asset registry is unreachable.
 *
 * @throws Problem conflict when the key was used with another body
 */
export async function findEarlierAnswer(
  database: Database,
  key: Key | undefined,
): Promise<StoredAnswer | undefined> {
  if (!key) return undefined;
  const [answer] = await findAnswers(database, [key]);
  return answer && checkSameRequest(key, answer);
}

/**
 * The stored answer of a key that was used before, after checking that the request is the same.
 *
 * @throws Problem conflict if it was used with another body, gone if what it created was erased
 */
export function checkSameRequest(key: Key, answer: StoredAnswer): StoredAnswer {
  if (answer.fingerprint.length === 0) {
    throw new Problem('idempotency_key.answer_erased', { key: key.key });
  }
  if (answer.fingerprint.equals(key.fingerprint)) return answer;
  throw new Problem('idempotency_key.other_body', { key: key.key });
}

/** Sends the first answer again, marked as a replay. */
export function replayAnswer(
  reply: FastifyReply,
  { status, answer }: Pick<StoredAnswer, 'status' | 'answer'>,
): FastifyReply {
  return sendText(reply.code(status).header('idempotency-replayed', 'true'), answer);
}

/** The answer to a request. */
export interface IdempotentAnswer {
  /** HTTP status */
  status: number;
  /** JSON text */
  answer: string;
  /** whether it is a replay of the first answer */
  replayed: boolean;
}

const keyExists = new Error('another request with the same Idempotency-Key committed first');

type FirstAnswer = Pick<StoredAnswer, 'status' | 'answer'>;

/** Claims a request's key for its answer, in the transaction that does the work. */
export type ClaimKey = (database: Database, answer: FirstAnswer) => Promise<void>;

/**
 * Does a request's work in a transaction that also claims the request's key: of requests with the same key, one is
 * committed and all get its answer.
 *
 * @param work returns the answer; must call `take` in its transaction and let its error roll that back
 * @throws Problem conflict when the key was used with another body
 */
export async function runWithKey(
  pool: pg.Pool,
  key: Key | undefined,
  work: (take: ClaimKey) => Promise<FirstAnswer>,
): Promise<IdempotentAnswer> {
  const earlier = await findEarlierAnswer(pool, key);
  if (earlier) return { ...earlier, replayed: true };
  const take: ClaimKey = async (database, answer) => {
    if (key && !(await claimKey(database, { ...key, ...answer }))) throw keyExists;
  };
  try {
    return { ...(await work(take)), replayed: false };
  } catch (error) {
    const first = error === keyExists ? await findEarlierAnswer(pool, key) : undefined;
    if (!first) throw error;
    return { ...first, replayed: true };
  }
}

/**
 * The same for work in one transaction. (Packets claim their keys in the batch writer's transactions.)
 *
 * @param work returns the answer; an error rolls back and leaves the key unused
 */
export function runIdempotent(
  pool: pg.Pool,
  key: Key | undefined,
  work: (database: Database) => Promise<FirstAnswer>,
): Promise<IdempotentAnswer> {
  return runWithKey(pool, key, take =>
    transaction(pool, async database => {
      const answer = await work(database);
      await take(database, answer);
      return answer;
    }),
  );
}

/** Sends the result of `runIdempotent`. */
export function sendIdempotentAnswer(reply: FastifyReply, done: IdempotentAnswer): FastifyReply {
  return done.replayed ? replayAnswer(reply, done) : sendText(reply.code(done.status), done.answer);
}
