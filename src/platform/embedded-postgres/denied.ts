import { statSync } from 'node:fs';
import path from 'node:path';

/** Why this user may not enter a folder, and what to do. */
export interface Denial {
  reason: string;
  remedy: string;
}

/**
 * Explains that access to a file or folder was denied, by the folder on the way to it that can still be seen.
 *
 * @param location that could not be used
 * @param dataDir DATA_DIR, which `location` is in, or is itself
 */
export function explainDenied(location: string, dataDir: string): Denial {
  const self = process.geteuid?.() ?? 0;
  const { folder, owner, mode } = nearestSeen(path.resolve(location));
  const reason = `${folder} belongs to user ${owner} with mode ${mode}, and this is user ${self}`;
  const remedy =
    owner === self
      ? `run \`chmod u+rwx ${folder}\``
      : `run fieldtrace as ${owner === 0 ? 'root' : `user ${owner} or as root`}, or give it to this user: \`chown -R ${self} ${dataDir}\``;
  return { reason, remedy };
}

/** The last folder of a path that can be looked at: it is the one that lets nobody through. */
function nearestSeen(location: string): { folder: string; owner: number; mode: string } {
  for (let folder = location; ; folder = path.dirname(folder)) {
    try {
      const { uid: owner, mode } = statSync(folder);
      return { folder, owner, mode: (mode & 0o777).toString(8) };
    } catch (error) {
      if (path.dirname(folder) === folder) throw error;
    }
  }
}
