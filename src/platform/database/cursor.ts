import type pg from 'pg';

/** Rows per fetch. */
const BATCH = 500;

/**
 * The rows of a statement, a batch at a time and no faster than they are consumed. Holds a connection and a read-only
 * transaction until the end; if iteration stops early, the connection is closed.
 *
 * @param pool whose deadline lets a transaction wait for the reader of the rows
 */
export async function* rowsOf<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  { text, values = [] }: pg.QueryConfig,
): AsyncGenerator<Row[]> {
  const client = await pool.connect();
  let ended = false;
  try {
    await client.query('BEGIN READ ONLY');
    await client.query({ text: `DECLARE exported NO SCROLL CURSOR FOR ${text}`, values });
    for (;;) {
      const { rows } = await client.query<Row>(`FETCH ${BATCH} FROM exported`);
      if (rows.length === 0) break;
      yield rows;
    }
    await client.query('COMMIT');
    ended = true;
  } finally {
    client.release(!ended);
  }
}
