import { createHash, createHmac } from 'node:crypto';
import { SettingsError } from '../../settings/settings.ts';
import { BackupError, DamagedError, GONE_REMEDY } from './backup-error.ts';
import { type Sealing, SealingEnded } from './sealing.ts';
import type { BackupTarget, Listed } from './target.ts';

/** The objects of one instance in a target, each compressed, encrypted, and bound to its name. */
export interface Vault {
  /** the folder of the instance in the target */
  readonly instance: string;
  readonly location: string;
  /**
   * Stores an object; `same` and `differs` say what is there when there is one. A damaged one differs.
   *
   * @param counts the part of the content that must be the same; all of it where it is not given
   */
  put(
    name: string,
    payload: Buffer,
    counts?: (payload: Buffer) => Buffer,
  ): Promise<'stored' | 'same' | 'differs'>;
  /** Stores an object whose name follows from its content. */
  putOnce(name: string, payload: Uint8Array): Promise<void>;
  /** @throws DamagedError that names the object */
  get(name: string): Promise<Buffer>;
  list(prefix: string): AsyncIterable<Listed>;
  remove(names: readonly string[]): Promise<void>;
  /** A name for something that the target's owner shall not learn: 40 hex digits. */
  aliasOf(content: string | Uint8Array): string;
}

const KEY = 'key';

/**
 * Checks that the key of an instance is still in the target. A process that has opened the vault would go on writing
 * objects that nobody can read.
 *
 * @throws DamagedError that says what to do
 */
export async function checkKey(target: BackupTarget, instance: string): Promise<void> {
  const name = `${instance}/${KEY}`;
  if (!(await target.get(name))) throw missingKey(target, name);
}

function missingKey({ location }: BackupTarget, name: string): DamagedError {
  return new DamagedError(`${name} is missing from ${location}. ${GONE_REMEDY}`);
}

/** The instances that a target holds. */
export async function listInstances(target: BackupTarget): Promise<string[]> {
  return (await target.folders('')).filter(name => /^\d{8}T\d{6}Z-[0-9a-f]{8}$/.test(name)).sort();
}

/**
 * Opens the objects of an instance. They are encrypted to a key of its own, which is stored with them, encrypted with
 * BACKUP_KEY: a passphrase is expensive to check, on purpose, and so it is used once.
 *
 * @param options.create whether a missing key is made, as for the first backup
 * @throws SettingsError when BACKUP_KEY is another one
 */
export async function openVault(
  { target, sealing, backupKey }: { target: BackupTarget; sealing: Sealing; backupKey: string },
  instance: string,
  options: { create: boolean },
): Promise<Vault> {
  const identity = await keyOf({ target, sealing, backupKey }, instance, options);
  const nameKey = createHash('sha256').update(`fieldtrace backup names ${identity}`).digest();
  const full = (name: string) => `${instance}/${name}`;

  const seal = async (name: string, payload: Uint8Array) =>
    (await sealing.request({ do: 'seal', identity, bytes: frame(name, payload) })).bytes;

  async function unseal(name: string, sealed: Uint8Array): Promise<Buffer> {
    const opened = await sealing.request({ do: 'open', identity, bytes: sealed }).catch(error => {
      if (error instanceof SealingEnded) throw error;
      throw new DamagedError(`${full(name)} is damaged (${error.message})`);
    });
    const { name: bound, payload } = unframe(opened.bytes);
    if (bound !== name) throw new DamagedError(`${full(name)} is damaged (it is a copy of ${bound})`);
    return payload;
  }

  async function get(name: string): Promise<Buffer> {
    const sealed = await target.get(full(name));
    if (!sealed) throw new DamagedError(`${full(name)} is missing`);
    return unseal(name, sealed);
  }

  return {
    instance,
    location: target.location,
    async put(name, payload, counts = whole => whole) {
      if ((await target.put(full(name), await seal(name, payload))) === 'stored') return 'stored';
      const sealed = await target.get(full(name));
      if (!sealed) throw new BackupError(`${full(name)} was removed during the comparison`);
      const there = await unseal(name, sealed).catch(error => {
        if (error instanceof DamagedError) return undefined;
        throw error;
      });
      return there && counts(there).equals(counts(payload)) ? 'same' : 'differs';
    },
    async putOnce(name, payload) {
      await target.put(full(name), await seal(name, payload));
    },
    get,
    async *list(prefix) {
      for await (const listed of target.list(full(prefix)))
        yield { ...listed, name: listed.name.slice(instance.length + 1) };
    },
    remove: names => target.remove(names.map(full)),
    aliasOf: content => createHmac('sha256', nameKey).update(content).digest('hex').slice(0, 40),
  };
}

async function keyOf(
  { target, sealing, backupKey }: { target: BackupTarget; sealing: Sealing; backupKey: string },
  instance: string,
  { create }: { create: boolean },
): Promise<string> {
  const name = `${instance}/${KEY}`;
  let bytes = await target.get(name);
  if (!bytes && create) {
    const made = await sealing.request({ do: 'make-key', backupKey });
    if ((await target.put(name, made.bytes)) === 'stored') return made.identity as string;
    bytes = await target.get(name);
  }
  if (!bytes) throw missingKey(target, name);
  const opened = await sealing.request({ do: 'open-key', backupKey, bytes }).catch(error => {
    if (error instanceof SealingEnded) throw error;
    throw new SettingsError(
      `BACKUP_KEY does not open ${name} in ${target.location}: the key is wrong or the object is damaged (${error.message})`,
    );
  });
  return opened.identity as string;
}

/** Name and content together: an object under another name than its own is noticed. */
function frame(name: string, payload: Uint8Array): Uint8Array {
  const named = Buffer.from(name);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(named.length);
  return Buffer.concat([length, named, payload]);
}

function unframe(bytes: Uint8Array): { name: string; payload: Buffer } {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = all.length < 2 ? 0 : all.readUInt16BE(0);
  return { name: all.toString('utf8', 2, 2 + length), payload: all.subarray(2 + length) };
}
