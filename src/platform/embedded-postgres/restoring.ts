import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { prepareLayout } from './layout.ts';
import { readPidFile, stopPostmaster } from './postmaster.ts';
import { EmbeddedPostgresError } from './refusals.ts';

/**
 * Prepares an empty or missing DATA_DIR for a restore, and keeps any start from using it until the restore has
 * finished. What a restore that was killed has left is removed, its server included.
 *
 * @returns a function that says that the restore has finished
 * @throws EmbeddedPostgresError when there is anything else
 */
export async function beginRestore(dataDir: string): Promise<() => void> {
  const names = existsSync(dataDir) ? readdirSync(dataDir) : [];
  if (names.length > 0 && !existsSync(`${dataDir}/postgres/restore-unfinished`)) {
    throw new EmbeddedPostgresError(`${dataDir} is not empty: restore needs an empty or new directory.`);
  }
  const layout = prepareLayout(dataDir);
  writeFileSync(layout.unfinishedRestore, '', { mode: 0o600 });
  const file = existsSync(layout.cluster) ? readPidFile(layout) : { is: 'absent' as const };
  if (file.is === 'alive') await stopPostmaster(layout, file.pid, () => {});
  rmSync(layout.cluster, { recursive: true, force: true });
  // Without it, the database counts as never made, and not as gone.
  rmSync(layout.log, { force: true });
  for (const name of readdirSync(layout.home)) {
    if (/password(\.new)?$/.test(name)) rmSync(`${layout.home}/${name}`);
  }
  return () => rmSync(layout.unfinishedRestore);
}
