import sql, { join } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { RowTable } from '../../../platform/database/rows.ts';

/** A request's Idempotency-Key, with its caller, route and body. */
export interface Key {
  /** the caller's user identifier; empty without a token */
  caller: string;
  /** method and path */
  route: string;
  /** the header's text, 1 to 255 characters */
  key: string;
  /** SHA-256 of the body's canonical JSON */
  fingerprint: Buffer;
}

/** The stored answer of a key. */
export interface StoredAnswer {
  fingerprint: Buffer;
  /** HTTP status */
  status: number;
  /** JSON text */
  answer: string;
}

/** A key with the answer of its request, stored when the transaction commits. */
export type Claim = Key & StoredAnswer;

/** Keys are kept this long, in days. */
export const KEY_DAYS = 7;

/** Claims as rows of a multi-row insert, which returns the keys that were new. */
export const claimTable: RowTable = {
  name: 'claim_keys',
  insert: 'INSERT INTO idempotency_keys (caller, route, key, fingerprint, status, answer, created_at)',
  width: 7,
  ending: 'ON CONFLICT DO NOTHING RETURNING caller, route, key',
};

export function claimRow(claim: Claim): unknown[] {
  const { caller, route, key, fingerprint, status, answer } = claim;
  return [caller, route, key, fingerprint, status, answer, new Date()];
}

/** The answers of keys, in their order; undefined where a key is new. */
export async function findAnswers(
  database: Database,
  keys: readonly Pick<Key, 'caller' | 'route' | 'key'>[],
): Promise<(StoredAnswer | undefined)[]> {
  const { rows } = await database.query<StoredAnswer & { at: string }>(sql`
    SELECT wanted.at, kept.fingerprint, kept.status, kept.answer
    FROM unnest(${keys.map(({ caller }) => caller)}::text[], ${keys.map(({ route }) => route)}::text[],
      ${keys.map(({ key }) => key)}::text[]) WITH ORDINALITY AS wanted (caller, route, key, at)
    JOIN idempotency_keys kept USING (caller, route, key)`);
  const answers = new Map(rows.map(({ at, ...answer }) => [Number(at) - 1, answer]));
  return keys.map((_, index) => answers.get(index));
}

/**
 * Claims a key for an answer, in the transaction that does the work. Waits for another transaction with the same key.
 *
 * @returns whether the key was new
 */
export async function claimKey(database: Database, claim: Claim): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO idempotency_keys (caller, route, key, fingerprint, status, answer, created_at)
    VALUES (${join(claimRow(claim))}) ON CONFLICT DO NOTHING`);
  return rowCount === 1;
}

/** Deletes claims of requests that turned out to have another answer. */
export async function dropClaims(
  database: Database,
  keys: readonly Pick<Key, 'caller' | 'route' | 'key'>[],
): Promise<void> {
  await database.query(sql`
    DELETE FROM idempotency_keys kept
    USING unnest(${keys.map(({ caller }) => caller)}::text[], ${keys.map(({ route }) => route)}::text[],
      ${keys.map(({ key }) => key)}::text[]) AS dropped (caller, route, key)
    WHERE (kept.caller, kept.route, kept.key) = (dropped.caller, dropped.route, dropped.key)`);
}

/** Gives back a key whose answer no longer holds, unless it has another answer meanwhile. */
export async function forgetAnswer(
  database: Database,
  { caller, route, key }: Pick<Key, 'caller' | 'route' | 'key'>,
  answer: string,
): Promise<void> {
  await database.query(sql`
    DELETE FROM idempotency_keys
    WHERE caller = ${caller} AND route = ${route} AND key = ${key} AND answer = ${answer}`);
}

/**
 * Empties the answers that refer to erased data. The keys stay, so that a retry is not treated as a new request. The
 * fingerprint is emptied too, because it is derived from the body.
 */
export async function eraseAnswers(database: Database, ids: readonly string[]): Promise<void> {
  await database.query(sql`
    UPDATE idempotency_keys SET fingerprint = '', status = 410, answer = '{}'
    WHERE EXISTS (SELECT FROM unnest(${ids}::text[]) AS id WHERE strpos(upper(answer), upper(id)) > 0)`);
}

/** Deletes keys older than KEY_DAYS, some thousands at a time; returns how many were deleted. */
export async function forgetOldKeys(database: Database, now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEY_DAYS * 24 * 3600 * 1000);
  const { rowCount } = await database.query(sql`
    DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency_keys WHERE created_at < ${before} ORDER BY created_at LIMIT 5000))`);
  return rowCount ?? 0;
}
