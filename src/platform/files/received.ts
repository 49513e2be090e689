import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '../http/problems.ts';
import { giveToOwner, makeFolder } from './whole-file.ts';

/** Bytes at the beginning of a file by which its type is detected; as many as the npm package file-type reads. */
const HEAD_BYTES = 4100;

/** Received bytes in a temporary file, until they are stored or discarded. */
export interface Received {
  path: string;
  /** bytes */
  size: number;
  /** lowercase hex */
  sha256: string;
  /** the first bytes, up to 4100 */
  head: Buffer;
  /** Removes the file, unless it has been moved. Always call it. */
  discard(): Promise<void>;
}

/**
 * Writes a stream into a new file in `folder`, counting and hashing.
 *
 * @param maxBytes the most that is taken
 * @param tooLarge what is thrown beyond it
 * @throws Problem unavailable if it cannot be written; errors of the source. Then no file is left.
 */
export async function receive(
  folder: string,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Received> {
  const file = path.join(folder, randomUUID());
  const discard = () => rm(file, { force: true });
  const handle = await storing(async () => {
    await makeFolder(path.dirname(folder));
    await makeFolder(folder);
    return open(file, 'wx', 0o600);
  });
  try {
    const taken = await take(handle, source, maxBytes, tooLarge);
    await storing(async () => {
      await giveToOwner(folder, handle);
      await handle.sync();
    });
    return { path: file, ...taken, discard };
  } catch (error) {
    await discard();
    throw error;
  } finally {
    await handle.close();
  }
}

async function take(
  handle: FileHandle,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Pick<Received, 'size' | 'sha256' | 'head'>> {
  const hash = createHash('sha256');
  let head = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    hash.update(chunk);
    if (head.length < HEAD_BYTES) {
      head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
    }
    await storing(() => handle.writeFile(chunk));
  }
  return { size, sha256: hash.digest('hex'), head };
}

/**
 * Runs an operation that the disk or the store may refuse temporarily, for example for lack of space.
 *
 * @throws Problem unavailable, with the cause for the log
 */
export async function storing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
    throw new Problem(isFull ? 'file_store.full' : 'file_store.away', {}, { retryAfter: 10, cause: error });
  }
}

/** The error for a missing file: retries cannot succeed, and an operator has to know. */
export function missing(key: string): Problem {
  const cause = new Error(`the file store has no file ${key}`);
  return new Problem('internal.file_missing', {}, { cause });
}
