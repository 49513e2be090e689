import { existsSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { type FileLock, tryLock } from '../embedded-postgres/file-lock.ts';
import { giveToOwner, makeFolder } from '../files/whole-file.ts';
import { VERSION } from '../version.ts';

/** A process that uses or used a DATA_DIR. */
export interface Run {
  pid: number;
  /** ISO 8601 */
  began: string;
  version: string;
  /** when another process found that it had been killed; absent before */
  found?: string;
}

/** How long killed processes are remembered, in milliseconds. */
const REMEMBERED_MS = 7 * 24 * 3600_000;

// For the whole process, however many services it runs.
let killed = 0;

/** How many earlier processes this one found killed at its start. */
export const countKilled = (): number => killed;

/**
 * Notes in DATA_DIR/runs that this process runs, and looks for processes there that ended without stopping: they were
 * killed, crashed, or the machine lost its power. Each holds a lock that the kernel drops when it dies. A DATA_DIR that
 * cannot be written to has no notes.
 *
 * @returns a function that ends the note, for a stop
 */
export async function beginRun(dataDir: string, logger: Logger): Promise<() => Promise<void>> {
  const folder = runsFolder(dataDir);
  try {
    await makeFolder(folder);
    for (const [id, run] of await listRuns(folder)) await lookAfter(folder, id, run, logger);
    return await note(folder);
  } catch (error) {
    logger.debug({ err: error }, 'could not record this process in DATA_DIR');
    return async () => {};
  }
}

/** The processes of a DATA_DIR that run, and those that were killed in the last days. Changes nothing. */
export async function readRuns(dataDir: string): Promise<{ running: Run[]; killed: Run[] }> {
  const folder = runsFolder(dataDir);
  const runs = { running: [] as Run[], killed: [] as Run[] };
  if (!existsSync(folder)) return runs;
  for (const [id, run] of await listRuns(folder)) {
    runs[run.found === undefined && isLocked(folder, id) ? 'running' : 'killed'].push(run);
  }
  return runs;
}

const runsFolder = (dataDir: string) => path.resolve(dataDir, 'runs');
const noteOf = (folder: string, id: string) => path.join(folder, `${id}.json`);
const lockOf = (folder: string, id: string) => path.join(folder, `${id}.lock`);

async function listRuns(folder: string): Promise<[id: string, Run][]> {
  const ids = (await readdir(folder)).filter(name => name.endsWith('.json')).map(name => name.slice(0, -5));
  const runs: [string, Run][] = [];
  for (const id of ids) {
    // One that ends at this moment removes its note; one that was cut off while writing it says nothing.
    const text = await readFile(noteOf(folder, id), 'utf8').catch(() => '');
    if (/^\{.*\}\n$/s.test(text)) runs.push([id, JSON.parse(text)]);
  }
  return runs;
}

function isLocked(folder: string, id: string): boolean {
  if (!existsSync(lockOf(folder, id))) return false;
  const lock = tryLock(lockOf(folder, id), 'shared');
  lock?.release();
  return lock === undefined;
}

/** Remembers a process that was killed for some days; forgets it afterwards. */
async function lookAfter(folder: string, id: string, run: Run, logger: Logger): Promise<void> {
  if (run.found !== undefined) {
    if (Date.now() - Date.parse(run.found) > REMEMBERED_MS) await rm(noteOf(folder, id), { force: true });
    return;
  }
  if (isLocked(folder, id)) return;
  killed++;
  logger.error({ ...run }, 'an earlier process ended without stopping: it was killed, crashed or lost power');
  await writeNote(folder, id, { ...run, found: new Date().toISOString() });
  await rm(lockOf(folder, id), { force: true });
}

async function note(folder: string): Promise<() => Promise<void>> {
  const began = new Date().toISOString();
  const id = `${began.replaceAll(/\D/g, '')}-${process.pid}`;
  const file = await open(lockOf(folder, id), 'wx', 0o600);
  await giveToOwner(folder, file).finally(() => file.close());
  const lock = tryLock(lockOf(folder, id), 'exclusive') as FileLock;
  await writeNote(folder, id, { pid: process.pid, began, version: VERSION });
  return async () => {
    await rm(noteOf(folder, id), { force: true });
    await rm(lockOf(folder, id), { force: true });
    lock.release();
  };
}

async function writeNote(folder: string, id: string, run: Run): Promise<void> {
  const partial = path.join(folder, `.${id}.${process.pid}`);
  await writeFile(partial, `${JSON.stringify(run)}\n`, { mode: 0o600 });
  await rename(partial, noteOf(folder, id));
}
