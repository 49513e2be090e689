import { type Connection, openPool } from '../../../platform/database/database.ts';
import { SCHEMA } from '../contract/database-schema.ts';
import { appendFor, type FindVisible } from './distributed.ts';
import { NO_HORIZON } from './store.ts';

/** Has everything that was committed appended to the log, also where no service runs. */
export async function appendAll(connection: Connection, findVisible: FindVisible): Promise<void> {
  const pool = openPool(connection, SCHEMA, 1, { pipeline: true });
  try {
    const client = await pool.connect();
    try {
      const append = await appendFor(client, findVisible);
      while ((await append(client, NO_HORIZON)).more);
    } finally {
      client.release(true);
    }
  } finally {
    await pool.end();
  }
}
