import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import type pg from 'pg';
import type { Account } from './account.ts';
import type { Layout } from './layout.ts';

const DIRECTORY = 'basic_archive.archive_directory';

/**
 * Makes the spool and gives the settings by which the server archives its write-ahead log there, with the library
 * `basic_archive` of its own package: no program of ours runs in the server, and no secret is needed there. The server
 * closes full segments only: `closeSegment` closes others.
 */
export function prepareArchive(layout: Layout, account: Account): Record<string, string> {
  mkdirSync(layout.spool, { recursive: true, mode: 0o700 });
  chmodSync(layout.spool, 0o700);
  if (account.uid !== undefined) chownSync(layout.spool, account.uid, account.gid ?? -1);
  return {
    archive_mode: 'on',
    archive_library: 'basic_archive',
    [DIRECTORY]: layout.spool,
    archive_timeout: '0',
  };
}

/**
 * Closes the segment of the log, so that it is archived, if a transaction that wrote has ended since the last time.
 * `archive_timeout` would also close it for what health checks write into the log, which no restore needs: they take no
 * transaction id. The whole snapshot is compared, not only its end: a transaction that others have overtaken leaves the
 * list of those in progress when it ends.
 *
 * @param since what this returned the last time; undefined closes it in any case
 * @returns the snapshot before it, as text
 */
export async function closeSegment(client: pg.Client, since: string | undefined): Promise<string> {
  const { rows } = await client.query<{ snapshot: string }>('SELECT pg_current_snapshot()::text AS snapshot');
  const { snapshot } = rows[0] as { snapshot: string };
  if (snapshot !== since) await client.query('SELECT pg_switch_wal()');
  return snapshot;
}

/** How far a server is with archiving. */
export interface ArchiverState {
  /** the file that it could not archive when it tried last; undefined while it can */
  failing: string | undefined;
  /** closed segments and other files of the log that are not in the archive yet, and stay in pg_wal until they are */
  waiting: number;
}

export async function readArchiverState(client: pg.Client): Promise<ArchiverState> {
  const { rows } = await client.query<{ failing: string | null; waiting: number }>(
    `SELECT CASE WHEN last_failed_time > coalesce(last_archived_time, '-infinity') THEN last_failed_wal END AS failing,
       (SELECT count(*)::int FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready') AS waiting
     FROM pg_stat_archiver`,
  );
  const { failing = null, waiting = 0 } = rows[0] ?? {};
  return { failing: failing ?? undefined, waiting };
}

/**
 * Whether a server archives as these settings say.
 *
 * @param settings of `prepareArchive`; without any the server must not archive, because nobody would empty the spool
 */
export async function archiveMatches(
  client: pg.Client,
  settings: Readonly<Record<string, string>>,
): Promise<boolean> {
  const { rows } = await client.query<{ name: string; setting: string }>(
    `SELECT name, setting FROM pg_settings
     WHERE name IN ('archive_mode', 'archive_library', 'archive_timeout')
     UNION ALL SELECT $1, current_setting($1, true)`,
    // Known to the archiver alone, and so missing in pg_settings.
    [DIRECTORY],
  );
  const inForce = new Map(rows.map(({ name, setting }) => [name, setting]));
  if (settings.archive_mode === undefined) return inForce.get('archive_mode') === 'off';
  return Object.entries(settings).every(([name, setting]) => inForce.get(name) === setting);
}
