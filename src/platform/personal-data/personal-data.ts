import { Readable } from 'node:stream';
import type pg from 'pg';
import { rowsOf } from '../database/cursor.ts';
import type { FileStore } from '../files/file-store.ts';

/** Concurrent exports in a process: each holds one connection of each service for as long as its client reads. */
export const EXPORTS = 2;

/** A file of an export. */
export interface PersonalFile {
  /** path in the export, such as packet-service/shares.ndjson */
  name: string;
  /** Its bytes, read as they are taken. Called once, when the files before it have been read. */
  open(): Promise<Readable>;
}

/** The personal data of one service, for export and erasure by the other. */
export interface PersonalData {
  /** Whether the service keeps its data in this database at all. */
  isHere(): Promise<boolean>;
  /** @param userId the `sub` of the user's tokens */
  files(userId: string): AsyncIterable<PersonalFile>;
  /**
   * Removes data that concern only the user; data that others rely on stay, under the identifier. Idempotent.
   *
   * @param contacts by which the user can be found, in addition to those that the service knows
   */
  erase(userId: string, contacts: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** A file of one JSON object a line, for each row of a statement. */
export function rowsFile<Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  name: string,
  statement: pg.QueryConfig,
  line: (row: Row) => object | string = row => row,
): PersonalFile {
  async function* lines(): AsyncGenerator<string> {
    for await (const rows of rowsOf<Row>(pool, statement)) {
      yield rows
        .map(line)
        .map(item => `${typeof item === 'string' ? item : JSON.stringify(item)}\n`)
        .join('');
    }
  }
  return { name, open: async () => Readable.from(lines(), { objectMode: false }) };
}

/** A file of JSON. */
export function jsonFile(name: string, value: unknown): PersonalFile {
  return { name, open: async () => Readable.from([Buffer.from(`${JSON.stringify(value, null, 2)}\n`)]) };
}

/** A file out of the file store; undefined when it is not there. */
export async function storedFile(
  files: FileStore,
  name: string,
  key: string,
): Promise<PersonalFile | undefined> {
  return (await files.size(key)) === undefined ? undefined : { name, open: () => files.read(key) };
}

/** Maximum characters of a file's name in the export. */
const MAX_NAME = 100;

/** A user's file name as one path segment that is valid on every system. */
export function safeName(name: string): string {
  const safe = name.replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '_').replace(/^[._]+/, '');
  return [...safe].slice(-MAX_NAME).join('') || 'file';
}
