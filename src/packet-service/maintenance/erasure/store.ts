import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import { ADVISORY_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';

/** The rights that an erasure needs and the service does not have. Only the owner of the tables can grant them. */
const RIGHTS = [
  'UPDATE (body, footer, lat, lon, cell, author, erased_at) ON packets',
  'DELETE ON packet_geoids, packet_attachments, chat_messages',
  'UPDATE (details, further_keys) ON packet_log',
  'UPDATE (author, sha256) ON attachment_claims',
];

/** Tables whose dead rows still contain erased data. */
const VACUUMED = [
  'packets',
  'packet_geoids',
  'packet_attachments',
  'packet_log',
  'chat_messages',
  'chat_words',
  'idempotency_keys',
  'attachments',
  'attachment_uploads',
  'attachment_claims',
  'tile_cells',
];

/**
 * Grants the rights of an erasure for the rest of the transaction; other sessions never see them. Waits for another
 * erasure, because concurrent GRANTs fail.
 */
export async function takeRights(database: Database): Promise<void> {
  await database.query(sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.erasure})`);
  for (const right of RIGHTS) await database.query({ text: `GRANT ${right} TO CURRENT_USER` });
}

/** Revokes them before the transaction commits. */
export async function returnRights(database: Database): Promise<void> {
  for (const right of RIGHTS) await database.query({ text: `REVOKE ${right} FROM CURRENT_USER` });
}

export async function insertErasure(
  database: Database,
  { packetId, now, reason }: { packetId: string; now: Date; reason: string },
): Promise<void> {
  await database.query(sql`
    INSERT INTO erasures (packet_id, erased_at, reason) VALUES (${packetId}, ${now}, ${reason})`);
}

/** Selects the packets (uuid form) with a recorded erasure. */
export async function findErasures(database: Database, packetIds: readonly string[]): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    sql`SELECT packet_id AS id FROM erasures WHERE packet_id = ANY (${packetIds}::uuid[])`,
  );
  return rows.map(({ id }) => id);
}

/** Removes dead rows and their index entries; not inside a transaction. */
export async function vacuum(database: Database): Promise<void> {
  for (const table of VACUUMED) await database.query({ text: `VACUUM (INDEX_CLEANUP ON) ${table}` });
}
