import type { Logger } from 'pino';
import type { Connection } from '../database/database.ts';
import type { ServerFiles } from '../embedded-postgres/index.ts';
import type { FileStore } from '../files/index.ts';
import type { Settings } from '../settings/settings.ts';
import type { Sealing } from './objects/sealing.ts';
import type { BackupTarget } from './objects/target.ts';
import type { Throttle } from './objects/throttle.ts';
import { openVault, type Vault } from './objects/vault.ts';
import type { StateStore } from './state.ts';

/** Shared by the parts of a backup in one process. */
export interface BackupContext {
  settings: Settings;
  backupKey: string;
  target: BackupTarget;
  sealing: Sealing;
  state: StateStore;
  /** of base backups and files */
  pace: Throttle;
  files: FileStore;
  connection: Connection;
  /** the embedded server; absent with DATABASE_URL */
  server: ServerFiles | undefined;
  logger: Logger;
}

/** The objects of this DATA_DIR; opened once for each instance, because opening is expensive. */
export function vaultOpener(context: BackupContext): () => Promise<Vault> {
  let opened: { instance: string; vault: Promise<Vault> } | undefined;
  return async () => {
    const instance = await context.state.instance();
    if (opened?.instance === instance) return opened.vault;
    const entry = { instance, vault: openOwn(context) };
    opened = entry;
    entry.vault.catch(() => {
      if (opened === entry) opened = undefined;
    });
    return entry.vault;
  };
}

/**
 * Begins new backups under a new id, after those in the target were lost. A service that runs goes on under the new id
 * and takes a base backup.
 *
 * @returns the new id
 * @throws Error if the target cannot be written
 */
export async function beginBackups(
  context: Pick<BackupContext, 'state' | 'target' | 'sealing' | 'backupKey'>,
): Promise<string> {
  const { state, target } = context;
  const instance = await state.renew(await state.instanceAt(target.location));
  await openVault(context, instance, { create: true });
  return instance;
}

/** @throws DamagedError when the target has lost the key: its disk is not mounted, or somebody removed it */
async function openOwn(context: BackupContext): Promise<Vault> {
  const { state, target } = context;
  const instance = await state.instanceAt(target.location);
  const [shipped, base] = [await state.read('shipped'), await state.read('base')];
  const isNew = (shipped?.instance !== instance || !shipped.last) && base?.instance !== instance;
  return openVault(context, instance, { create: isNew });
}
