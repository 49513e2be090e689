import type { Database } from '../../../platform/database/database.ts';

/** Maximum characters of a text that a summary has. */
const TEXT_SHOWN = 200;

/** A short summary of a packet. */
export interface PacketSummary {
  type: string;
  timestamp: string;
  geoid: string;
  /** the beginning of its message or text; empty where it has neither */
  text: string;
  /** whether it belongs to a thread */
  isMessage: boolean;
}

/** Summaries of packets by id (uuid form), without erased ones. The database reads the bodies: together they can be large. */
export async function findSummaries(
  database: Database,
  ids: readonly string[],
): Promise<Map<string, PacketSummary>> {
  const { rows } = await database.query<PacketSummary & { id: string }>({
    name: 'find_summaries',
    text: `SELECT id, header::jsonb ->> 'type' AS type, header::jsonb ->> 'timestamp' AS timestamp,
        header::jsonb ->> 'geoid' AS geoid, thread_id IS NOT NULL AS "isMessage",
        left(coalesce(body::jsonb ->> 'message', body::jsonb ->> 'text', ''), $2) AS text
      FROM packets WHERE id = ANY ($1::uuid[]) AND erased_at IS NULL`,
    values: [ids, TEXT_SHOWN],
  });
  return new Map(rows.map(({ id, ...summary }) => [id, summary]));
}
