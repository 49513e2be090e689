import { readdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { HISTORY, SEGMENT, SEGMENT_BYTES } from './segments.ts';

/** Segments that are archived but not shipped. */
export interface Spool {
  /** in the order of the log */
  segments: string[];
  histories: string[];
  /** when the oldest segment was closed */
  oldest: Date | undefined;
}

/** A copy that the server began and that is older was left when the server was killed. */
const FORGOTTEN_MS = 10 * 60_000;

/** Looks into the spool and removes what is of no use there. */
export async function readSpool(folder: string): Promise<Spool> {
  const segments: string[] = [];
  const histories: string[] = [];
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    if (SEGMENT.test(name)) segments.push(name);
    else if (HISTORY.test(name)) histories.push(name);
    // Notes about base backups, and the last segment of a timeline that ended: no restore needs them.
    else if (/\.(backup|partial)$/.test(name)) await rm(file, { force: true });
    else if (name.startsWith('archtemp.') && Date.now() - (await timeOf(file)) > FORGOTTEN_MS)
      await rm(file, { force: true });
  }
  segments.sort();
  const [first] = segments;
  const oldest = first ? new Date(await timeOf(path.join(folder, first))) : undefined;
  return { segments, histories, oldest };
}

async function timeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.mtimeMs ?? Date.now();
}

/**
 * Keeps the spool within its limit, and within half of what would be free without it: the disk never fills because of a
 * backup. The oldest segments stay, because they continue what is in the target; the newest are dropped.
 *
 * @returns the first segment that was dropped
 */
export async function limitSpool(folder: string, maxBytes: number): Promise<string | undefined> {
  const { segments } = await readSpool(folder);
  const used = segments.length * SEGMENT_BYTES;
  const { bavail, bsize } = await statfs(folder);
  const allowed = Math.min(maxBytes, (bavail * bsize + used) / 2);
  const dropped = segments.slice(Math.floor(allowed / SEGMENT_BYTES));
  // The newest first: a kill in between leaves no hole that is not at the end.
  for (const segment of dropped.toReversed()) await rm(path.join(folder, segment), { force: true });
  return dropped[0];
}
