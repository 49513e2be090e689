import { packetServiceLacks } from '../packet-service/app.ts';
import type { Connection } from '../platform/database/database.ts';
import { traceBackendLacks } from '../trace-backend/app.ts';

/**
 * Refuses a database if this version cannot work with the tables of one of the services, before it changes those of the
 * other: the version that has to migrate the database first could not start on them any more.
 *
 * @throws MigrationError
 */
export async function checkTables(connection: Connection): Promise<void> {
  await packetServiceLacks(connection);
  await traceBackendLacks(connection);
}
