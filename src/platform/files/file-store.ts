import type { Readable } from 'node:stream';
import type { Received } from './received.ts';

/** A part of a file: bytes from `start` to `end`, both inclusive, counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Where files are kept: a folder, or a bucket. A key is made by us, never from a request: lowercase segments
 * joined by /, of which the first says whose it is, such as `attachments/<sha256>`. What is put under a key is there
 * as a whole or not at all, and survives a power cut.
 *
 * Every function throws Problem unavailable when the store does not do it, `read` Problem internal when the file is
 * missing.
 */
export interface FileStore {
  /** where it is, in words for an operator */
  readonly place: string;
  /**
   * Takes bytes in, on this machine's disk: the first half of storing what a request brings.
   *
   * @param maxBytes the most that is taken
   * @param tooLarge what is thrown beyond it
   * @returns size, SHA-256 and first bytes, and the content for `put`; to be discarded in every case
   */
  receive(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    maxBytes: number,
    tooLarge: () => Error,
  ): Promise<Received>;
  /** Keeps content under a key, in place of what was there. */
  put(key: string, content: Received | Uint8Array): Promise<void>;
  /** Bytes under a key; undefined when there is nothing. */
  size(key: string): Promise<number | undefined>;
  /** Opens what is under a key, or a part of it. Destroying the stream frees what it holds. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** Removes what is under a key, if there is anything. */
  remove(key: string): Promise<void>;
  /** Removes everything whose key begins with these whole segments, without a / at the end. */
  removeAll(prefix: string): Promise<void>;
  /** Removes what was received more than a day before `now` and never kept: its process was killed. */
  removeForgotten(now: Date): Promise<void>;
}

const KEY = /^[a-z][a-z-]*(\/[a-z0-9][a-z0-9-]*)+$/;

/** @throws Error when a key is not one of ours: no request may ever reach a path */
export function checkKey(key: string): string {
  if (!KEY.test(key)) throw new Error('a key of a stored file must be lowercase segments');
  return key;
}
