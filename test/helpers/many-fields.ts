import type pg from 'pg';

/** Stores square fields side by side, with boundaries of about so many bytes, without registering them. */
export async function insertFields(pool: pg.Pool, count: number, bytes = 200): Promise<void> {
  const positions = Math.max(1, Math.floor((bytes - 120) / 14));
  await pool.query(
    `INSERT INTO fields (geoid, name, boundary, area_m2, bounds, ground_cells, created_at)
     SELECT encode(sha256(('field ' || n)::bytea), 'hex'), CASE WHEN n % 2 = 0 THEN 'Plot "' || n || '" é' END,
       '{"type":"Polygon","coordinates":[[[' || lon || ',1],[' || lon + 0.001 || ',1],[' || lon + 0.001 || ',1.001],' ||
         repeat('[' || lon || ',1.001],', $2::int) || '[' || lon || ',1]]]}',
       n + 0.5, box(point(lon, 1), point(lon + 0.001, 1.001)), 1, '2026-03-01'::timestamptz + n * interval '1 ms'
     FROM generate_series(1, $1) AS n, LATERAL (SELECT 20 + n * 0.002 AS lon) AS at`,
    [count, positions],
  );
}
