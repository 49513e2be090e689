import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import type { Scope } from '../../../platform/tokens/api-key.ts';
import type { Role } from '../../base/access/role.ts';

/** A key for programs, without the key itself. */
export interface ApiKey {
  id: string;
  userId: number;
  name: string;
  scopes: Scope[];
  /** whether the session that created it had proven a second factor */
  secondFactor: boolean;
  createdAt: Date;
  expiresAt: Date;
  /** to the minute */
  lastUsedAt: Date | null;
}

const KEY = sql`id, user_id AS "userId", name, scopes, second_factor AS "secondFactor", created_at AS "createdAt",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt"`;

/** Maximum unexpired keys per user. */
export const MAX_API_KEYS = 50;

/**
 * Stores a key, unless its user has too many; deletes the user's expired ones. The caller holds the lock of the user's
 * row.
 *
 * @returns whether it was stored
 */
export async function insertApiKey(
  database: Database,
  key: Omit<ApiKey, 'lastUsedAt'> & { hash: Buffer },
): Promise<boolean> {
  const { id, userId, hash, name, scopes, secondFactor, createdAt, expiresAt } = key;
  await execute(database, sql`DELETE FROM api_keys WHERE user_id = ${userId} AND expires_at <= ${createdAt}`);
  const { rowCount } = await database.query(sql`
    INSERT INTO api_keys (id, user_id, hash, name, scopes, second_factor, created_at, expires_at)
    SELECT ${id}, ${userId}, ${hash}, ${name}, ${scopes}, ${secondFactor}, ${createdAt}, ${expiresAt}
    WHERE (SELECT count(*) FROM api_keys WHERE user_id = ${userId}) < ${MAX_API_KEYS}`);
  return rowCount === 1;
}

/** A user's keys that have not expired, newest first. */
export async function listApiKeys(database: Database, userId: number, now: Date): Promise<ApiKey[]> {
  const { rows } = await database.query<ApiKey>(sql`
    SELECT ${KEY} FROM api_keys WHERE user_id = ${userId} AND expires_at > ${now}
    ORDER BY created_at DESC, id LIMIT ${MAX_API_KEYS}`);
  return rows;
}

/** Deletes one key of a user; returns its name, undefined if there is none. */
export async function deleteApiKey(
  database: Database,
  userId: number,
  id: string,
): Promise<string | undefined> {
  const { rows } = await database.query<{ name: string }>(sql`
    DELETE FROM api_keys WHERE user_id = ${userId} AND id::text = ${id.toLowerCase()} RETURNING name`);
  return rows[0]?.name;
}

/** Deletes the key of a hash; undefined if there is none. */
export async function deleteApiKeyOfHash(
  database: Database,
  hash: Buffer,
): Promise<Pick<ApiKey, 'userId' | 'name'> | undefined> {
  const { rows } = await database.query<Pick<ApiKey, 'userId' | 'name'>>(sql`
    DELETE FROM api_keys WHERE hash = ${hash} RETURNING user_id AS "userId", name`);
  return rows[0];
}

/** Deletes every key of a user. */
export async function deleteApiKeys(database: Database, userId: number): Promise<void> {
  await execute(database, sql`DELETE FROM api_keys WHERE user_id = ${userId}`);
}

/** Records that a user's keys were created without the second factor, which has been removed. */
export async function forgetFactorOfKeys(database: Database, userId: number): Promise<void> {
  await execute(database, sql`UPDATE api_keys SET second_factor = false WHERE user_id = ${userId}`);
}

/** A valid key: its user is active, and it has not expired. */
export interface KeyState
  extends Pick<ApiKey, 'id' | 'userId' | 'scopes' | 'secondFactor' | 'expiresAt' | 'lastUsedAt'> {
  role: Role;
}

/** The valid keys, in the order of these hashes (hex). */
export async function findKeyStates(
  database: Database,
  hashes: readonly string[],
  now: Date,
): Promise<(KeyState | undefined)[]> {
  const { rows } = await database.query<KeyState & { hash: string }>({
    name: 'find-key-states',
    text: `
      SELECT encode(hash, 'hex') AS hash, api_keys.id, user_id AS "userId", role, scopes,
        second_factor AS "secondFactor", expires_at AS "expiresAt", last_used_at AS "lastUsedAt"
      FROM api_keys JOIN users ON users.id = user_id
      WHERE hash = ANY ($1::bytea[]) AND expires_at > $2 AND status = 'ACTIVE'`,
    values: [hashes.map(hash => Buffer.from(hash, 'hex')), now],
  });
  const byHash = new Map(rows.map(({ hash, ...state }) => [hash, state]));
  return hashes.map(hash => byHash.get(hash));
}

/** Records the use of a key, unless a later one is recorded. */
export async function touchApiKey(database: Database, id: string, now: Date): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE api_keys SET last_used_at = ${now}
    WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at < ${now})`,
  );
}
