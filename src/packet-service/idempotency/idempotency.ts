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
export async function earlierAnswer(
  database: Database,
  key: Key | undefined,
): Promise<StoredAnswer | undefined> {
  if (!key) return undefined;
  const [answer] = await findAnswers(database, [key]);
  return answer && sameRequest(key, answer);
}

/**
 * The answer that a key stands for, once it is known that the key was used before.
 *
 * @throws Problem conflict when that was with another body, gone when what came of it was erased
 */
export function sameRequest(key: Key, answer: StoredAnswer): StoredAnswer {
  if (answer.fingerprint.length === 0) {
    throw new Problem('gone', `what the request with Idempotency-Key "${key.key}" made was erased`);
  }
  if (answer.fingerprint.equals(key.fingerprint)) return answer;
  throw new Problem('conflict', `Idempotency-Key "${key.key}" was used before with another body`);
}

/** Sends a first answer once more, marked as such. */
export function sendAgain(
  reply: FastifyReply,
  { status, answer }: Pick<StoredAnswer, 'status' | 'answer'>,
): FastifyReply {
  return sendText(reply.code(status).header('idempotency-replayed', 'true'), answer);
}

/** What a request was answered. */
export interface OnceAnswer {
  /** HTTP status */
  status: number;
  /** JSON text */
  answer: string;
  /** whether it is the first answer once more */
  again: boolean;
}

const keyTaken = new Error('another request with the same Idempotency-Key was quicker');

type FirstAnswer = Pick<StoredAnswer, 'status' | 'answer'>;

/** Takes a request's key for its answer, in the transaction that brings the answer about. */
export type TakeKey = (database: Database, answer: FirstAnswer) => Promise<void>;

/**
 * Does a request's work, whose transaction also takes the request's key: of requests with the same key the work of one
 * is kept, and all get its answer.
 *
 * @param work gives the answer; calls `take` in its transaction, and is undone by what that throws
 * @throws Problem conflict when the key was used with another body
 */
export async function takingKey(
  pool: pg.Pool,
  key: Key | undefined,
  work: (take: TakeKey) => Promise<FirstAnswer>,
): Promise<OnceAnswer> {
  const earlier = await earlierAnswer(pool, key);
  if (earlier) return { ...earlier, again: true };
  const take: TakeKey = async (database, answer) => {
    if (key && !(await claimKey(database, { ...key, ...answer }))) throw keyTaken;
  };
  try {
    return { ...(await work(take)), again: false };
  } catch (error) {
    const first = error === keyTaken ? await earlierAnswer(pool, key) : undefined;
    if (!first) throw error;
    return { ...first, again: true };
  }
}

/**
 * The same for work that is one transaction. (Packets claim their keys in the batch writer's transactions.)
 *
 * @param work gives the answer; what it throws undoes the work and leaves the key free
 */
export function once(
  pool: pg.Pool,
  key: Key | undefined,
  work: (database: Database) => Promise<FirstAnswer>,
): Promise<OnceAnswer> {
  return takingKey(pool, key, take =>
    transaction(pool, async database => {
      const answer = await work(database);
      await take(database, answer);
      return answer;
    }),
  );
}

/** Sends what `once` gave. */
export function sendOnce(reply: FastifyReply, done: OnceAnswer): FastifyReply {
  return done.again ? sendAgain(reply, done) : sendText(reply.code(done.status), done.answer);
}
