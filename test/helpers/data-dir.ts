import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/**
 * Makes a folder what DATA_DIR is after a first start: with PostgreSQL's files, the roles and empty tables. It saves the
 * processor time of initdb and the migrations in tests about something else than the first start.
 *
 * @param folder made if it is not there, with its parents
 * @returns the folder
 */
export async function emptyDataDir(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await promisify(execFile)('cp', ['-a', `${inject('emptyDataDir')}/.`, folder]);
  return folder;
}
