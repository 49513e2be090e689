import { connect } from './chat-fill.ts';
import type { Context } from './context.ts';

/**
 * Fills a database with packets in the order of their time: of each four one is a message in one of a thousand threads,
 * one has an attachment.
 *
 * @param from number of the first packet
 * @param to number after the last one
 */
export async function fillPackets(
  { connection }: Pick<Context, 'connection'>,
  from: number,
  to: number,
): Promise<void> {
  const client = await connect(connection);
  await client.query(
    `INSERT INTO packets (id, geoid, ts, type, thread_id, header, body, footer)
     SELECT ('019f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, geoid, ts, kind,
       CASE kind WHEN 'chat_message' THEN ('019f0000-0000-7000-8001-' || lpad(to_hex(n % 1000), 12, '0'))::uuid END,
       '{"geoid":"' || geoid || '","id":"01JD7Q2M8XW3N5R6T8' || lpad(n::text, 8, '0') ||
         '","timestamp":"' || to_char(ts, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '","type":"' || kind || '"}',
       CASE n % 4
         WHEN 0 THEN '{"attachments":[],"from_user":"user-' || n % 500 || '","message":"Rust on ' || n || ' plants"}'
         WHEN 1 THEN '{"attachments":["att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2"],"message":"Leaf rust on ' || n || ' plants"}'
         ELSE '{"attachments":[],"capture_point":{"lat":1,"lon":2},"message":"Leaf rust on ' || n || ' plants"}' END,
       '{"enc":"none","hash":"' || geoid || '","lang":"und"}'
     FROM generate_series($1::int, $2::int - 1) AS n,
       LATERAL (SELECT md5(n::text) || md5(n::text) AS geoid, '2026-01-01'::timestamptz + n * interval '1 s' AS ts,
         CASE n % 4 WHEN 0 THEN 'chat_message' ELSE 'note' END AS kind) AS of`,
    [from, to],
  );
  await client.query(
    `INSERT INTO packet_geoids SELECT id, 'field-' || lower(right(id::text, 3)), ts FROM packets
     WHERE type = 'chat_message' ON CONFLICT DO NOTHING`,
  );
  await client.query('VACUUM ANALYZE packets');
  await client.query('VACUUM ANALYZE packet_geoids');
  await client.end();
}

/** Drops the indexes of packets except the primary key's; returns the statements that make them again. */
export async function dropIndexes({ connection }: Pick<Context, 'connection'>): Promise<string[]> {
  const client = await connect(connection);
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE schemaname = 'packet_service' AND tablename = 'packets' AND indexname LIKE 'packets_by_%'`,
  );
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`);
  await client.end();
  return rows.map(({ definition }) => definition);
}
