import type { Database } from '../../../platform/database/database.ts';
import { ADVISORY_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';

/** The right that only the owner of the tables can grant; the services do not have it. */
const RIGHT = 'UPDATE (closed) ON packets';

/**
 * Grants the right to close packets for the rest of the transaction; other sessions never see it. Waits for erasures, which
 * grant rights, too: concurrent GRANTs fail.
 */
export async function takeClosingRight(database: Database): Promise<void> {
  await database.query({ text: 'SELECT pg_advisory_xact_lock($1)', values: [ADVISORY_LOCKS.erasure] });
  await database.query({ text: `GRANT ${RIGHT} TO CURRENT_USER` });
}

/** Revokes it before the transaction commits. */
export async function returnClosingRight(database: Database): Promise<void> {
  await database.query({ text: `REVOKE ${RIGHT} FROM CURRENT_USER` });
}

/**
 * Closes packets (uuid form) to requests without a token.
 *
 * @returns how many were open
 */
export async function closePackets(database: Database, ids: readonly string[]): Promise<number> {
  const { rowCount } = await database.query({
    text: 'UPDATE packets SET closed = true WHERE id = ANY ($1::uuid[]) AND closed IS NULL',
    values: [ids],
  });
  return rowCount ?? 0;
}
