import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import { sendText } from '../../platform/http/server.ts';
import { type Database, transaction } from '../../platform/postgres/database.ts';
import { canonicalJson } from '../packet/jcs.ts';
import { claimKey, findAnswers, type Key, type StoredAnswer } from './store.ts';

/** The header as routes describe it in their schemas. */
export const IDEMPOTENCY_HEADER = 'idempotency-key';

/** The Idempotency-Key header, whose length the schemas of the routes check. */
export function keyText({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return headers[IDEMPOTENCY_HEADER] as string | undefined;
}

/**
 * The Idempotency-Key of a request, when it carries one. The same key stands for the same answer within one
 * caller and one path; two bodies are the same when their canonical JSON is.
 */
export function readKey(request: FastifyRequest): Key | undefined {
  const key = keyText(request);
  return key === undefined ? undefined : makeKey(request, routeOf(request), key, request.body);
}

/** The method and path of a request, by which its key is told from the same key elsewhere. */
export function routeOf({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): string {
  // A slash at the end makes no other path.
  return `${method} ${(url.split('?')[0] ?? '').replace(/(?<=.)\/$/, '')}`;
}

/**
 * The key of a body that came inside another request, as if it had come by itself.
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
 * The first answer to the same request, when there was one. Asked before any work is done, so that a repeat is
 * answered even where the work would fail now, as when the asset registry has become unreachable.
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
 * The answer that a key stands for, once it is known that the key was used before.
 *
 * @throws Problem conflict when that was with another body, gone when what came of it was erased
 */
export function checkSameRequest(key: Key, answer: StoredAnswer): StoredAnswer {
  if (answer.fingerprint.length === 0) {
    throw new Problem('gone', `what the request with Idempotency-Key "${key.key}" made was erased`);
  }
  if (answer.fingerprint.equals(key.fingerprint)) return answer;
  throw new Problem('conflict', `Idempotency-Key "${key.key}" was used before with another body`);
}

/** Sends a first answer once more, marked as such. */
export function replayAnswer(
  reply: FastifyReply,
  { status, answer }: Pick<StoredAnswer, 'status' | 'answer'>,
): FastifyReply {
  return sendText(reply.code(status).header('idempotency-replayed', 'true'), answer);
}

/** What a request was answered. */
export interface IdempotentAnswer {
  /** HTTP status */
  status: number;
  /** JSON text */
  answer: string;
  /** whether it is the first answer once more */
  replayed: boolean;
}

const keyExists = new Error('another request with the same Idempotency-Key was quicker');

type FirstAnswer = Pick<StoredAnswer, 'status' | 'answer'>;

/** Takes a request's key for its answer, in the transaction that brings the answer about. */
export type ClaimKey = (database: Database, answer: FirstAnswer) => Promise<void>;

/**
 * Does a request's work, whose transaction also takes the request's key: of requests with the same key the work of one
 * is kept, and all get its answer.
 *
 * @param work gives the answer; calls `take` in its transaction, and is undone by what that throws
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
 * The same for work that is one transaction. (Packets claim their keys in the batch writer's transactions.)
 *
 * @param work gives the answer; what it throws undoes the work and leaves the key free
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

/** Sends what `once` gave. */
export function sendIdempotentAnswer(reply: FastifyReply, done: IdempotentAnswer): FastifyReply {
  return done.replayed ? replayAnswer(reply, done) : sendText(reply.code(done.status), done.answer);
}
