import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { Problem } from '../http/problems.ts';
import { giveToOwner, makeFolder } from './whole-file.ts';

/** Bytes at the beginning of a file that tell what it is; as many as the npm package file-type looks at. */
const HEAD_BYTES = 4100;

/** Bytes that came in and stand in a file of their own, on the disk, until somebody keeps or discards them. */
export interface Received {
  path: string;
  /** bytes */
  size: number;
  /** lowercase hex */
  sha256: string;
  /** the first bytes, up to 4100 */
  head: Buffer;
  /** Removes the file, where it has not been put elsewhere. To be called in every case. */
  discard(): Promise<void>;
}

/**
 * Writes what comes into a new file in `folder`, counting and hashing on the way.
 *
 * @param maxBytes the most that is taken
 * @param tooLarge what is thrown beyond it
 * @throws Problem unavailable when it cannot be written; whatever reading the source throws. Nothing is left then.
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
 * Does what the disk or the store behind it may refuse for a while, such as for want of space.
 *
 * @throws Problem unavailable, with the cause for the log
 */
export async function storing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('unavailable', 'the file store does not answer; try again', {
      retryAfter: 10,
      cause: error,
    });
  }
}

/** A file that should be there and is not: no later try finds it, and an operator has to know. */
export function missing(key: string): Problem {
  return new Problem('internal', 'the file is missing in the file store', {
    cause: new Error(`the file store has nothing under ${key}`),
  });
}
