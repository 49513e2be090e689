import type pg from 'pg';

/** Rows of one statement: each has a deadline, which a busy machine may miss. */
const AT_ONCE = 10_000;

/**
 * Inserts observations as rows, without hashes: enough that an export of them fills every buffer on its way.
 *
 * @param count a multiple of 10,000
 * @param geoid their GeoID; their times are a second apart
 */
export async function insertPackets(pool: pg.Pool, count: number, geoid = 'g'): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await pool.query(
      `INSERT INTO packets (id, geoid, ts, type, header, body, footer)
       SELECT gen_random_uuid(), $1::text, '2026-01-01'::timestamptz + n * interval '1 s', 'bulk',
         '{"geoid":"' || $1::text || '","id":"01JD7Q2M8XW3N5R6T8V9Y0Z1A2","timestamp":"2026-01-01T00:00:00Z","type":"bulk"}',
         '{"attachments":[],"filler":"' || repeat('x', 200) || '","message":""}', '{}'
       FROM generate_series($2::int, $3::int) AS n`,
      [geoid, from + 1, from + AT_ONCE],
    );
  }
}
