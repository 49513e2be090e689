import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Locks that the kernel drops when their process dies, however it dies. Node has no flock; SQLite's lock on
 * an (always empty) database file is the one such lock in its standard library, on Linux and macOS alike.
 * Rejected: files that hold a pid (stale after kill -9, and pids come back, in containers at once), advisory
 * locks in PostgreSQL (they are gone whenever the server is, which is when they are needed most).
 *
 * The file must exist. Nothing else may open it: closing any descriptor of it would drop the lock.
 */
export interface FileLock {
  release(): void;
}

const sqliteBusy = 5;

/** Takes the lock if it is free, else returns undefined. Shared locks are compatible with each other. */
export function tryLock(path: string, kind: 'shared' | 'exclusive'): FileLock | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // Otherwise it writes a journal next to the file, which fails on a full disk and remains after a kill.
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec(kind === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT count(*) FROM sqlite_schema');
    return { release: () => database?.close() };
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined;
    throw Object.assign(new Error(`${path} cannot be locked`, { cause: error }), { code: 'ENOLCK', path });
  }
}

/**
 * Does the work while holding the lock, after waiting for it as long as necessary.
 * @param onWait called every ten seconds of waiting
 */
export async function whileLocked<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let reportedAt = Date.now();
  let lock = tryLock(path, 'exclusive');
  while (lock === undefined) {
    await sleep(10 + Math.random() * 20);
    if (Date.now() - reportedAt > 10_000) {
      reportedAt = Date.now();
      onWait();
    }
    lock = tryLock(path, 'exclusive');
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}
