import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import pLimit from 'p-limit';
import { whileLocked } from '../embedded-postgres/file-lock.ts';
import { giveToOwner, makeFolder, writeWhole } from '../files/whole-file.ts';

/** A stretch of the log that was never shipped: no restore goes past its beginning from an older base. */
export interface Gap {
  /** first segment that is missing */
  from: string;
  /** when it was noticed, ISO 8601 */
  at: string;
  why: string;
}

/** State of backups that a process stores in DATA_DIR/backup, for itself and the others. */
export interface State {
  /** the write-ahead log: the last segment in the target, and the last gap */
  shipped: { instance: string; last?: string; at?: string; gap?: Gap };
  /** what keeps backups from working; `since` and `trouble` are absent while all is well */
  health: { trouble?: string; since?: string };
  base: { instance: string; id: string; at: string; startSegment?: string; bytes: number };
  verified: { instance: string; id: string; at: string };
  /** where the objects are */
  target: { place: string };
}

export interface StateStore {
  read<Name extends keyof State>(name: Name): Promise<State[Name] | undefined>;
  write<Name extends keyof State>(name: Name, state: State[Name]): Promise<void>;
  /** Changes what is noted; other changes of this process wait. */
  update<Name extends keyof State>(
    name: Name,
    change: (before: State[Name] | undefined) => State[Name] | undefined,
  ): Promise<void>;
  /** The id under which this DATA_DIR's objects are; made when there is none, once for all processes. */
  instance(): Promise<string>;
  /** The same, for a target: another target than the one before begins with another id, and so with a base backup. */
  instanceAt(location: string): Promise<string>;
  /**
   * Takes another id, after another copy of this DATA_DIR has written under the present one.
   *
   * @param was the id that does not serve; nothing changes if another process has replaced it already
   * @returns the id from now on
   */
  renew(was: string): Promise<string>;
  /** A file to lock: one process ships, one takes a base backup, one makes an id. */
  lockFile(name: LockName): Promise<string>;
}

type LockName = 'ship' | 'base' | 'instance';

/** @param dataDir DATA_DIR */
export function openState(dataDir: string): StateStore {
  const folder = path.resolve(dataDir, 'backup');
  const keep = async (name: string, text: string) => {
    await makeFolder(folder);
    await writeWhole(folder, name, Buffer.from(text));
  };
  const find = (name: string) =>
    readFile(path.join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
  const present = async () => (await find('instance'))?.trim() || undefined;
  const makeInstance = async () => {
    const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
    const id = `${time}-${randomBytes(4).toString('hex')}`;
    await keep('instance', `${id}\n`);
    return id;
  };
  async function read<Name extends keyof State>(name: Name): Promise<State[Name] | undefined> {
    const text = await find(`${name}.json`);
    return text === undefined ? undefined : JSON.parse(text);
  }
  const write = (name: keyof State, state: object) =>
    keep(`${name}.json`, `${JSON.stringify(state, null, 2)}\n`);
  const oneByOne = pLimit(1);
  const lockFiles: Partial<Record<LockName, Promise<string>>> = {};
  const lockFile = (name: LockName) => {
    lockFiles[name] ??= makeLockFile(folder, name);
    return lockFiles[name];
  };
  /** Held while a few small files are written. */
  const alone = (change: () => Promise<string>) =>
    oneByOne(async () => whileLocked(await lockFile('instance'), () => {}, change));
  return {
    read,
    write: (name, state) => oneByOne(() => write(name, state)),
    update: (name, change) =>
      oneByOne(async () => {
        const changed = change(await read(name));
        if (changed) await write(name, changed);
      }),
    instance: async () =>
      (await present()) ?? (await alone(async () => (await present()) ?? (await makeInstance()))),
    instanceAt: location =>
      alone(async () => {
        const [instance, target] = [await present(), await read('target')];
        if (instance && target?.place === location) return instance;
        const chosen = instance && !target ? instance : await makeInstance();
        await write('target', { place: location });
        return chosen;
      }),
    renew: was =>
      alone(async () => {
        const instance = await present();
        return instance && instance !== was ? instance : makeInstance();
      }),
    lockFile,
  };
}

/** One that is there is not opened: closing it again would drop a lock of this process. */
async function makeLockFile(folder: string, name: string): Promise<string> {
  await makeFolder(folder);
  const file = path.join(folder, `${name}.lock`);
  if (existsSync(file)) return file;
  const handle = await open(file, 'a', 0o600);
  try {
    await giveToOwner(folder, handle);
  } finally {
    await handle.close();
  }
  return file;
}
