import { parentPort, workerData } from 'node:worker_threads';
import { type Connection, openPool } from '../../../platform/database/database.ts';
import { SCHEMA } from '../../core/contract/database-schema.ts';
import { verifyRange } from './range.ts';
import { RANGES_AT_ONCE, type RangeAnswer, type RangeRequest, STATEMENT_DEADLINE } from './range-thread.ts';

// The other side of range-thread.ts, in a thread of its own.
const { connection } = workerData as { connection: Connection };
const pool = openPool(connection, SCHEMA, RANGES_AT_ONCE, { pipeline: true, deadline: STATEMENT_DEADLINE });

parentPort?.on('message', async ({ id, range }: RangeRequest) => {
  parentPort?.postMessage(await answer(id, range));
});

async function answer(id: number, range: RangeRequest['range']): Promise<RangeAnswer> {
  try {
    return { id, result: await verifyRange(pool, range) };
  } catch (error) {
    // A copy of an error loses its code.
    const { message, code } = error as NodeJS.ErrnoException;
    return { id, error: { message, ...(code && { code }) } };
  }
}
