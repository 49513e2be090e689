import type pg from 'pg';

/** How a copy of the data directory begins and ends. */
export interface StoppedBackup {
  lsn: string;
  /** content of backup_label and tablespace_map, which belong into the copy */
  label: string;
  tablespaces: string;
}

/** Begins a base backup on this session, which must stay open until the end of it. */
export async function startBackup(client: pg.Client, label: string): Promise<void> {
  await client.query('SELECT pg_backup_start($1, fast => true)', [label]);
}

/** Ends it; does not wait for the archive. */
export async function stopBackup(client: pg.Client): Promise<StoppedBackup> {
  const { rows } = await client.query(
    'SELECT lsn::text, labelfile, spcmapfile FROM pg_backup_stop(wait_for_archive => false)',
  );
  const { lsn, labelfile, spcmapfile } = rows[0];
  return { lsn, label: labelfile, tablespaces: spcmapfile };
}

/** Where a server's WAL is, for a backup of the files of a database that has backups of its own. */
export async function findLsn(client: pg.Client): Promise<string> {
  const { rows } = await client.query(
    `SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END::text AS lsn`,
  );
  return rows[0].lsn;
}

/** The time of the last transaction that a server has recovered. */
export async function findLastRecovered(client: pg.Client): Promise<Date | null> {
  const { rows } = await client.query('SELECT pg_last_xact_replay_timestamp() AS last');
  return rows[0].last;
}
