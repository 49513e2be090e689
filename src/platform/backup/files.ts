import { buffer } from 'node:stream/consumers';
import type { FileStore } from '../files/index.ts';
import { DamagedError } from './objects/backup-error.ts';
import type { Throttle } from './objects/throttle.ts';
import type { Vault } from './objects/vault.ts';

/** Bytes of one object of a file; a larger file has several. */
const PART_BYTES = 16 * 1024 * 1024;

/** Files of the file store in the target, by hidden name. */
export interface FileIndex {
  /** how many parts there are, and how many there should be */
  parts: Map<string, { there: Set<number>; of: number }>;
  /** when a file was found to be gone */
  gone: Map<string, Date>;
}

/** An object `files/<name>.<part>.<parts>`, parts counted from 0. */
const FILE = /^files\/([0-9a-f]{40})\.(\d+)\.(\d+)$/;

/** The key that identifies the store; where it is missing, the store is not what it was. */
const STORE_ID = 'store/id';

/** Reads what the target has. */
export async function readFileIndex(vault: Vault): Promise<FileIndex> {
  const index: FileIndex = { parts: new Map(), gone: new Map() };
  for await (const { name } of vault.list('files/')) {
    const [, file, part, of] = FILE.exec(name) ?? [];
    if (file === undefined) continue;
    const entry = index.parts.get(file) ?? { there: new Set(), of: Number(of) };
    entry.there.add(Number(part));
    index.parts.set(file, entry);
  }
  for await (const { name, modified } of vault.list('gone/')) index.gone.set(name.slice(5), modified);
  return index;
}

export function isComplete(index: FileIndex, file: string): boolean {
  const entry = index.parts.get(file);
  return entry !== undefined && entry.there.size === entry.of;
}

export function objectOf(file: string, part: number, of: number): string {
  return `files/${file}.${part}.${of}`;
}

/**
 * Ships the files that the target lacks. What a key holds never changes, so a file that is there is not read again. Of
 * files that are gone from the store a note is made; retention removes them when no base backup can need them.
 *
 * @returns how many files were shipped
 */
export async function shipFiles(
  { files, vault, index }: { files: FileStore; vault: Vault; index: FileIndex },
  { pace, signal }: { pace: Throttle; signal: AbortSignal },
): Promise<number> {
  const seen = new Set<string>();
  let shipped = 0;
  let isOurs = false;
  for await (const key of files.list()) {
    signal.throwIfAborted();
    isOurs ||= key === STORE_ID;
    const name = vault.aliasOf(key);
    seen.add(name);
    if (index.gone.delete(name)) await vault.remove([`gone/${name}`]);
    if (isComplete(index, name)) continue;
    if (await shipFile({ files, vault, index }, key, name, { pace, signal })) shipped++;
  }
  if (!isOurs) return shipped;
  for (const name of index.parts.keys()) {
    if (seen.has(name) || index.gone.has(name)) continue;
    await vault.putOnce(`gone/${name}`, Buffer.alloc(0));
    index.gone.set(name, new Date());
  }
  return shipped;
}

/** False when the file was removed meanwhile. */
async function shipFile(
  { files, vault, index }: { files: FileStore; vault: Vault; index: FileIndex },
  key: string,
  name: string,
  { pace, signal }: { pace: Throttle; signal: AbortSignal },
): Promise<boolean> {
  const size = await files.size(key);
  if (size === undefined) return false;
  const of = Math.max(1, Math.ceil(size / PART_BYTES));
  const there = index.parts.get(name)?.there ?? new Set();
  index.parts.set(name, { there, of });
  const head = Buffer.from(`${JSON.stringify({ key, size })}\n`);
  for (let part = 0; part < of; part++) {
    if (there.has(part)) continue;
    const start = part * PART_BYTES;
    const bytes = Math.min(PART_BYTES, size - start);
    await pace(bytes, signal);
    const content =
      bytes === 0 ? Buffer.alloc(0) : await buffer(await files.read(key, { start, end: start + bytes - 1 }));
    await vault.putOnce(objectOf(name, part, of), Buffer.concat([head, content]));
    there.add(part);
  }
  return true;
}

/**
 * Gives the content of a file, part by part.
 *
 * @throws DamagedError
 */
export async function openFile(
  vault: Vault,
  index: FileIndex,
  file: string,
): Promise<{ key: string; size: number; content: AsyncIterable<Uint8Array> }> {
  const of = index.parts.get(file)?.of ?? 0;
  const read = async (part: number) =>
    splitHead(objectOf(file, part, of), await vault.get(objectOf(file, part, of)));
  const first = await read(0);
  async function* content() {
    yield first.content;
    for (let part = 1; part < of; part++) yield (await read(part)).content;
  }
  return { key: first.key, size: first.size, content: content() };
}

function splitHead(object: string, payload: Buffer): { key: string; size: number; content: Buffer } {
  const end = payload.indexOf(10);
  if (end < 0) throw new DamagedError(`${object} is damaged (it names no file)`);
  const { key, size } = JSON.parse(payload.toString('utf8', 0, end));
  return { key, size, content: payload.subarray(end + 1) };
}
