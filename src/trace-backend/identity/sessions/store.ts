import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import type { Role } from '../../base/access/role.ts';
import type { Status } from '../users/store.ts';

/** One login, until it ends. */
export interface Session {
  id: string;
  userId: number;
  startedAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  /** address of its last use */
  address: string;
  userAgent: string;
  /** whether the login proved a second factor */
  secondFactor: boolean;
}

const SESSION = sql`id, user_id AS "userId", started_at AS "startedAt", last_used_at AS "lastUsedAt",
  expires_at AS "expiresAt", address, user_agent AS "userAgent", second_factor AS "secondFactor"`;

/** Maximum sessions per user; a new one replaces the least recently used. */
export const MAX_SESSIONS = 100;

/** Stores a session; deletes the user's expired ones. */
export async function insertSession(database: Database, session: Session): Promise<void> {
  const { id, userId, startedAt, lastUsedAt, expiresAt, address, userAgent, secondFactor } = session;
  await execute(
    database,
    sql`
    DELETE FROM sessions WHERE user_id = ${userId} AND (expires_at <= ${startedAt} OR id IN (
      SELECT id FROM sessions WHERE user_id = ${userId} ORDER BY last_used_at DESC OFFSET ${MAX_SESSIONS - 1}))`,
  );
  await execute(
    database,
    sql`
    INSERT INTO sessions (id, user_id, started_at, last_used_at, expires_at, address, user_agent, second_factor)
    VALUES (${id}, ${userId}, ${startedAt}, ${lastUsedAt}, ${expiresAt}, ${address}, ${userAgent}, ${secondFactor})`,
  );
}

/** Records that a session was refreshed. */
export async function touchSession(
  database: Database,
  { id, lastUsedAt, address, userAgent }: Pick<Session, 'id' | 'lastUsedAt' | 'address' | 'userAgent'>,
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE sessions SET last_used_at = ${lastUsedAt}, address = ${address}, user_agent = ${userAgent}
    WHERE id = ${id}`,
  );
}

/** A user's sessions that have not expired, most recently used first. */
export async function listSessions(database: Database, userId: number, now: Date): Promise<Session[]> {
  const { rows } = await database.query<Session>(sql`
    SELECT ${SESSION} FROM sessions WHERE user_id = ${userId} AND expires_at > ${now}
    ORDER BY last_used_at DESC, id LIMIT ${MAX_SESSIONS}`);
  return rows;
}

/** Ends one session of a user, with its refresh tokens; false when the user has no such session. */
export async function deleteSession(database: Database, userId: number, id: string): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    DELETE FROM sessions WHERE user_id = ${userId} AND id::text = ${id.toLowerCase()}`);
  return rowCount === 1;
}

/** Ends every session of a user, with their refresh tokens. */
export async function deleteSessions(database: Database, userId: number): Promise<void> {
  await execute(database, sql`DELETE FROM sessions WHERE user_id = ${userId}`);
}

/** Ends all other sessions of a user, with their refresh tokens. */
export async function deleteOtherSessions(database: Database, userId: number, id: string): Promise<void> {
  await execute(database, sql`DELETE FROM sessions WHERE user_id = ${userId} AND id <> ${id}`);
}

/** Ends every session of every user, with their refresh tokens. */
export async function deleteAllSessions(database: Database): Promise<void> {
  await execute(database, sql`DELETE FROM sessions`);
}

/** Sets for one session of a user, or all, whether its login counts as proven by a second factor. */
export async function setSecondFactor(
  database: Database,
  userId: number,
  { sessionId, proven }: { sessionId?: string; proven: boolean },
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE sessions SET second_factor = ${proven}
    WHERE user_id = ${userId} AND (${sessionId}::uuid IS NULL OR id = ${sessionId})`,
  );
}

/** The state that an access token is checked against. */
export interface SessionState {
  userId: number;
  status: Status;
  role: Role;
  /** the user's session version */
  version: number;
  secondFactor: boolean;
}

/** The sessions that have not expired, in the order of the ids, with their users. */
export async function findSessionStates(
  database: Database,
  ids: readonly string[],
  now: Date,
): Promise<(SessionState | undefined)[]> {
  const { rows } = await database.query<SessionState & { id: string }>({
    name: 'find-session-states',
    text: `
      SELECT sessions.id, users.id AS "userId", status, role, session_version AS version,
        second_factor AS "secondFactor"
      FROM sessions JOIN users ON users.id = user_id WHERE sessions.id = ANY ($1) AND expires_at > $2`,
    values: [ids, now],
  });
  const byId = new Map(rows.map(row => [row.id, row]));
  return ids.map(id => byId.get(id));
}

interface RefreshToken {
  hash: Buffer;
  sessionId: string;
  userId: number;
  sessionVersion: number;
  expiresAt: Date;
}

export async function insertRefreshToken(
  database: Database,
  { hash, sessionId, userId, sessionVersion, expiresAt }: RefreshToken,
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO refresh_tokens (hash, session_id, user_id, session_version, expires_at)
    VALUES (${hash}, ${sessionId}, ${userId}, ${sessionVersion}, ${expiresAt})`,
  );
}

/** The user of a refresh token; undefined if there is none. */
export async function findRefreshTokenUser(
  database: Database,
  hash: Buffer,
  now: Date,
): Promise<number | undefined> {
  const { rows } = await database.query<{ userId: number }>(sql`
    SELECT user_id AS "userId" FROM refresh_tokens WHERE hash = ${hash} AND expires_at > ${now}`);
  return rows[0]?.userId;
}

/**
 * Locks a refresh token until the end of the transaction, and returns it with its session. The caller holds the lock
 * of the user's row, so that this does not deadlock with ending all sessions.
 */
export async function lockRefreshToken(
  database: Database,
  hash: Buffer,
): Promise<{ usedAt: Date | null; sessionVersion: number; session: Session } | undefined> {
  const { rows } = await database.query<Session & { usedAt: Date | null; sessionVersion: number }>(sql`
    SELECT used_at AS "usedAt", session_version AS "sessionVersion", sessions.id, sessions.user_id AS "userId",
      started_at AS "startedAt", last_used_at AS "lastUsedAt", sessions.expires_at AS "expiresAt", address,
      user_agent AS "userAgent", second_factor AS "secondFactor"
    FROM refresh_tokens JOIN sessions ON sessions.id = session_id WHERE hash = ${hash} FOR UPDATE`);
  if (!rows[0]) return undefined;
  const { usedAt, sessionVersion, ...session } = rows[0];
  return { usedAt, sessionVersion, session };
}

/** Marks a token used. */
export async function markRefreshTokenUsed(database: Database, hash: Buffer, now: Date): Promise<void> {
  await execute(database, sql`UPDATE refresh_tokens SET used_at = ${now} WHERE hash = ${hash}`);
}
