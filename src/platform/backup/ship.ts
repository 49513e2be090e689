import { readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { BackupContext } from './context.ts';
import type { Vault } from './objects/vault.ts';
import { HISTORY, nextSegment, packSegment, unpackSegment } from './segments.ts';
import { limitSpool, readSpool } from './spool.ts';

type Shipping = Pick<BackupContext, 'state' | 'logger'> & { spool: string };

/**
 * Ships what is in the spool, in the order of the log. A segment leaves the spool when it is in the target, so a kill at
 * any moment repeats at most one of them.
 *
 * @param openVault gives the objects of the instance that counts at the time
 * @param options.prepare what is done before the first of them
 * @returns the number of segments that were shipped
 */
export async function shipSpool(
  { spool, state, logger }: Shipping,
  openVault: () => Promise<Vault>,
  { signal, prepare }: { signal: AbortSignal; prepare?: () => Promise<void> },
): Promise<number> {
  const { segments, histories } = await readSpool(spool);
  if (segments.length === 0 && histories.length === 0) return 0;
  await prepare?.();
  for (const name of [...histories, ...segments]) {
    signal.throwIfAborted();
    let vault = await openVault();
    const bytes = await readPacked(path.join(spool, name));
    // The server archives a segment again if it was killed before it noted that it had done so: at another time.
    const content = (packed: Buffer) => (HISTORY.test(name) ? packed : unpackSegment(packed).bytes);
    if ((await vault.put(`wal/${name}`, bytes, content)) === 'differs') {
      const instance = await state.renew(vault.instance);
      logger.error(
        { object: `wal/${name}`, was: vault.instance, instance },
        'another copy of this database writes backups under the same id, or the object is damaged: starting a new id and a new base backup',
      );
      vault = await openVault();
      await vault.put(`wal/${name}`, bytes);
    }
    if (!HISTORY.test(name)) await note({ state, logger }, vault.instance, name);
    await rm(path.join(spool, name));
  }
  return segments.length;
}

/** A file of the spool as the target stores it. */
async function readPacked(file: string): Promise<Buffer> {
  const bytes = await readFile(file);
  return HISTORY.test(path.basename(file)) ? bytes : packSegment(bytes, (await stat(file)).mtime);
}

/** Notes a segment as the last one, and a gap where it does not follow the one before. */
function note(
  { state, logger }: Pick<Shipping, 'state' | 'logger'>,
  instance: string,
  segment: string,
): Promise<void> {
  return state.update('shipped', before => {
    const shipped = before?.instance === instance ? before : { instance };
    const expected = shipped.last && nextSegment(shipped.last);
    const at = new Date().toISOString();
    // It was shipped before if a process was killed before it removed the segment.
    const follows = expected === undefined || segment === expected || segment === shipped.last;
    if (follows || shipped.gap?.from === expected) return { ...shipped, last: segment, at };
    logger.error(
      { from: expected, to: segment },
      'the backup of the WAL has a gap: taking a new base backup',
    );
    return {
      ...shipped,
      last: segment,
      at,
      gap: { from: expected, at, why: 'the server did not archive it' },
    };
  });
}

/** Drops what the spool has no room for, and notes the gap. */
export async function limitSpoolAndTell({ spool, state, logger }: Shipping, maxBytes: number): Promise<void> {
  const from = await limitSpool(spool, maxBytes);
  if (from === undefined) return;
  const instance = await state.instance();
  await state.update('shipped', before => {
    const shipped = before ?? { instance };
    const { gap, last } = shipped;
    if (gap && gap.from <= from && (!last || gap.from > last)) return undefined;
    logger.error(
      { from, maxBytes },
      'the backup target is unreachable and the spool is full: NEWER WRITES ARE NOT BACKED UP until it is back',
    );
    return { ...shipped, gap: { from, at: new Date().toISOString(), why: 'the spool was full' } };
  });
}
