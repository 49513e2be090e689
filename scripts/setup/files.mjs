import { readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * The files in a folder, by their paths with slashes.
 *
 * @param recursive also those in its folders
 */
export function filesIn(folder, { recursive }) {
  return readdirSync(folder, { recursive, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath ?? entry.path, entry.name).replaceAll(path.sep, '/'));
}
