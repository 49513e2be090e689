import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { MigrationError } from './make-schema.ts';

/** A migration as a database remembers it. */
export interface Applied {
  number: number;
  name: string;
  checksum: string;
}

/** A numbered SQL file. */
export interface Migration extends Applied {
  text: string;
}

/** The migrations of a released version, which the first migration of this one replaces: it makes the same tables. */
interface Replaced {
  /** git tag of the version */
  tag: string;
  migrations: Applied[];
}

/** The migrations of a service, in the order of their numbers. */
export interface Migrations {
  all: Migration[];
  replaced: Replaced | undefined;
}

/** How a database compares with the migrations. */
export interface Comparison {
  /** migrations that it lacks */
  lacking: Migration[];
  /** whether it has exactly those that the first migration replaces, so that this one is only recorded */
  isReplaced: boolean;
}

/** In the folder of the migrations: the names and checksums of those that the first one replaces. */
const REPLACED = 'replaced.json';

/** @param folder the folder of `NNN-name.sql` files */
export async function readMigrations(folder: URL): Promise<Migrations> {
  const names = await readdir(folder);
  const all = names
    .filter(name => /^\d{3}-[a-z-]+\.sql$/.test(name))
    .sort()
    .map(async name => {
      const text = await readFile(new URL(name, folder), 'utf8');
      return { number: numberOf(name), name, text, checksum: hash('sha256', text, 'hex') };
    });
  return {
    all: await Promise.all(all),
    replaced: names.includes(REPLACED) ? await readReplaced(new URL(REPLACED, folder)) : undefined,
  };
}

async function readReplaced(file: URL): Promise<Replaced> {
  const { tag, migrations }: { tag: string; migrations: Record<string, string> } = JSON.parse(
    await readFile(file, 'utf8'),
  );
  return {
    tag,
    migrations: Object.entries(migrations).map(([name, checksum]) => ({
      number: numberOf(name),
      name,
      checksum,
    })),
  };
}

function numberOf(name: string): number {
  return Number(name.slice(0, 3));
}

/**
 * @param applied the migrations that a database has
 * @throws MigrationError if this version cannot work with the database
 */
export function compareMigrations(applied: readonly Applied[], { all, replaced }: Migrations): Comparison {
  const first = all[0]?.number ?? 0;
  if (replaced && applied.some(({ number }) => number < first)) {
    checkReplaced(applied, replaced);
    return { lacking: all, isReplaced: true };
  }
  for (const { number, name, checksum } of applied) {
    const known = all.find(migration => migration.number === number);
    if (!known) {
      throw new MigrationError(`the database has migration ${name} of a newer fieldtrace`, {
        remedy:
          'install the newer version, or restore the data from before the upgrade (docs/runbooks.md, "Roll back")',
      });
    }
    if (known.checksum !== checksum) {
      throw new MigrationError(
        `migration ${name} was edited after it ran in this database; restore its text`,
      );
    }
  }
  const lacking = all.filter(({ number }) => !applied.some(row => row.number === number));
  return { lacking, isReplaced: false };
}

/** @throws MigrationError unless a database has all migrations of a released version, and no others */
function checkReplaced(applied: readonly Applied[], { tag, migrations }: Replaced): void {
  for (const { number, name, checksum } of applied) {
    const known = migrations.find(migration => migration.number === number);
    if (known?.name === name && known.checksum === checksum) continue;
    throw new MigrationError(
      `the database has migration ${name}, ${known ? 'with another text than in' : 'which is not in'} fieldtrace ${tag}, ` +
        'and was left unchanged',
      { remedy: 'start the fieldtrace that made the database' },
    );
  }
  if (applied.length === migrations.length) return;
  throw new MigrationError(
    `the database is older than fieldtrace ${tag} (it has ${applied.length} of ${migrations.length} migrations) and was ` +
      'left unchanged',
    {
      remedy:
        `start ${tag} on it once (git checkout ${tag}, then npm start), then this version ` +
        '(docs/operations.md, "Upgrading from 0.1.0 or before")',
      tag,
    },
  );
}
