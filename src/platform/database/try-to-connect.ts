import pg from 'pg';
import { CONNECT_MS, type Connection } from './database.ts';
import { errorCode, passingTrouble } from './troubles.ts';

/**
 * Opens a session and ends it.
 *
 * @throws errors of the connection; see {@link mayConnectLater}
 */
export async function tryToConnect(connection: Connection): Promise<void> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => {});
  try {
    await client.connect();
  } finally {
    await client.end().catch(() => {});
  }
}

/** SQLSTATEs of a server that starts, stops, or has no room for a session now (PostgreSQL's appendix A). */
const LATER = /^(08...|53...|57P0.)$/;
/** Other SQLSTATEs, such as a wrong password, and a host or a socket that the settings name wrongly. */
const WRONG = /^([0-9A-DF-Z][0-9A-Z]{4}|ENOTFOUND|EACCES|EPERM)$/;

/** Whether an attempt to connect failed because the server is away, and not because of a wrong setting. */
export function mayConnectLater(error: unknown): boolean {
  const code = errorCode(error);
  return LATER.test(code) || (!WRONG.test(code) && passingTrouble(error) !== undefined);
}
