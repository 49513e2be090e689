import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withSuperuser } from '../../../test/helpers/backup.ts';
import { temporaryFolder } from '../../../test/helpers/folder.ts';
import { closeSegment } from './archive.ts';
import { startEmbeddedPostgres } from './index.ts';

test('a segment of the log is closed after a transaction that writes, also one that others have overtaken', async () => {
  const { folder: dataDir, remove } = await temporaryFolder();
  const server = await startEmbeddedPostgres({ dataDir, logger: pino({ level: 'silent' }) });
  try {
    await withSuperuser(dataDir, async client => {
      // Its workers write, too.
      await client.query('ALTER SYSTEM SET autovacuum = off');
      await client.query('SELECT pg_reload_conf()');
      const currentSegment = async () =>
        (await client.query('SELECT pg_walfile_name(pg_current_wal_lsn()) AS name')).rows[0].name;
      const slow = new pg.Client(server.owner);
      await slow.connect();
      await slow.query('BEGIN');
      await slow.query('SELECT pg_current_xact_id()');
      await client.query('CREATE TABLE overtaking ()');
      let snapshot = await closeSegment(client, undefined);
      for (let look = 0; look < 3; look++) {
        const before = await currentSegment();
        snapshot = await closeSegment(client, snapshot);
        expect(await currentSegment()).toBe(before);
      }
      await slow.query('COMMIT');
      await slow.end();
      const before = await currentSegment();
      await closeSegment(client, snapshot);
      expect(await currentSegment()).not.toBe(before);
    });
  } finally {
    await server.stop();
    await remove();
  }
});
