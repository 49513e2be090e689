import type { Readable } from 'node:stream';
import type { Received } from './received.ts';

/** A part of a file: bytes from `start` to `end`, both inclusive, counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * A store of files: a folder, or a bucket. Keys are created by the program, never from a request: lowercase segments
 * joined by /, of which the first is the owner, such as `attachments/<sha256>`. Writes are atomic and durable.
 *
 * Every function throws Problem unavailable if the store fails; `read` throws Problem internal if the file is
 * missing.
 */
export interface FileStore {
  /** its location, for operators */
  readonly location: string;
  /**
   * Receives bytes on this machine's disk: the first half of storing an upload.
   *
   * @param maxBytes maximum size
   * @param tooLarge the error beyond it
   * @returns size, SHA-256 and first bytes, and the content for `put`; always discard it afterwards
   */
  receive(
    source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    maxBytes: number,
    tooLarge: () => Error,
  ): Promise<Received>;
  /** Stores content under a key, replacing any earlier content. */
  put(key: string, content: Received | Uint8Array): Promise<void>;
  /** Size in bytes; undefined if the file does not exist. */
  size(key: string): Promise<number | undefined>;
  /** Opens a file, or a part of it. Destroying the stream frees its resources. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** Every key, in any order; what comes or goes meanwhile may be among them or not. */
  list(): AsyncIterable<string>;
  /** Removes a file, if it exists. */
  remove(key: string): Promise<void>;
  /** Removes everything whose key begins with these whole segments, without a / at the end. */
  removeAll(prefix: string): Promise<void>;
  /**
   * Removes files that were received more than a day before `now` and never stored, because their process was killed.
   */
  removeForgotten(now: Date): Promise<void>;
}

const KEY = /^[a-z][a-z-]*(\/[a-z0-9][a-z0-9-]*)+$/;

/** @throws Error if a key has another form, so that no request can ever choose a path */
export function checkKey(key: string): string {
  if (!KEY.test(key)) throw new Error('a key of a stored file must be lowercase segments');
  return key;
}

/** Whether a name in a store is a key of ours: a bucket may hold what others have put there. */
export function isKey(name: string): boolean {
  return KEY.test(name);
}
