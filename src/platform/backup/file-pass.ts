import type { BackupContext } from './context.ts';
import { type FileIndex, readFileIndex, shipFiles } from './files.ts';
import type { Vault } from './objects/vault.ts';

/**
 * Makes a function that ships the files which the target lacks. Its passes follow one another; those that are asked for
 * while one runs are one pass after it. What the target has is read once for each instance.
 */
export function filePass({
  files,
  pace,
}: Pick<BackupContext, 'files' | 'pace'>): (vault: Vault, signal: AbortSignal) => Promise<number> {
  let known: { instance: string; index: Promise<FileIndex> } | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<number> | undefined;

  async function pass(vault: Vault, signal: AbortSignal): Promise<number> {
    if (known?.instance !== vault.instance) known = { instance: vault.instance, index: readFileIndex(vault) };
    try {
      return await shipFiles({ files, vault, index: await known.index }, { pace, signal });
    } catch (error) {
      known = undefined;
      throw error;
    }
  }

  return (vault, signal) => {
    next ??= running.then(() => {
      next = undefined;
      const present = pass(vault, signal);
      running = present.catch(() => {});
      return present;
    });
    return next;
  };
}
