import { spawn } from 'node:child_process';
import { accessSync, constants, globSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'vitest';
import { whileLocked } from '../../src/platform/embedded-postgres/file-lock.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** why this test cannot run on this machine; test/helpers/not-run.ts lists these */
    notRun?: string;
  }
}

/** Programs that only Debian's archive provides, each with the package that contains it. */
const PACKAGES = {
  caddy: 'caddy',
  curl: 'curl',
  nginx: 'nginx-light',
  ogr2ogr: 'gdal-bin',
  // The server of the archive's version: its programs are in a folder of that version.
  initdb: 'postgresql',
  openssl: 'openssl',
  pgbouncer: 'pgbouncer',
  promtool: 'prometheus',
  psql: 'postgresql-client',
  'systemd-analyze': 'systemd',
  unzip: 'unzip',
} as const;

export type DebianProgram = keyof typeof PACKAGES;

/** Declares a test, like vitest's own `test`. */
type DeclareTest = (
  title: string,
  body: (context: TestContext) => unknown,
  timeoutMilliseconds?: number,
) => void;

// Debian starts a service as soon as its package is installed, unless this file says no.
const INSTALL = `
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\\nexit 101\\n' > $policy && chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"; }
install "$@" || { apt-get update -qq && install "$@"; }
`;

/**
 * The `test` function for tests that run programs from Debian's archive. Missing packages are installed first, by
 * apt-get as root or through `sudo -n`. Where that is impossible, the tests are declared as skipped with the
 * reason, hooks of a file that has no other tests do not run either, and the last lines of the run list them
 * (test/helpers/not-run.ts).
 *
 *     const test = await testWith('pgbouncer');
 *     test('transactions survive a pool', async () => { … spawn(programPath('pgbouncer'), …) … });
 *
 * To use another program, add it to PACKAGES.
 */
export async function testWith(...programs: DebianProgram[]): Promise<DeclareTest> {
  const notRun = await install(programs);
  if (notRun === undefined) return test;
  return (title, body) => test(title, { skip: true, meta: { notRun } }, body);
}

/**
 * The path of an installed program. Daemons are in /usr/sbin, which is not on every user's PATH.
 * @throws Error when it is not installed
 */
export function programPath(program: DebianProgram): string {
  const found = find(program);
  if (found === undefined) throw new Error(`${program} is not installed`);
  return found;
}

/** Installs what is missing, one test file at a time; returns why that failed, if it did. */
async function install(programs: DebianProgram[]): Promise<string | undefined> {
  if (missing(programs).length === 0) return undefined;
  const folder = path.resolve(import.meta.dirname, '../../node_modules/.cache');
  mkdirSync(folder, { recursive: true });
  const lock = path.join(folder, 'fieldtrace-apt.lock');
  writeFileSync(lock, '', { flag: 'a' });
  return await whileLocked(
    lock,
    () => {},
    async () => {
      const needed = missing(programs);
      if (needed.length === 0) return undefined;
      const packages = needed.map(program => PACKAGES[program]);
      const complaint = await aptInstall(packages);
      if (missing(programs).length === 0) return undefined;
      return `${needed.join(', ')} missing and not installable (apt-get install ${packages.join(' ')}): ${complaint}`;
    },
  );
}

/** Returns the last line that the installation printed. */
function aptInstall(packages: string[]): Promise<string> {
  const words = [
    ...(process.geteuid?.() === 0 ? [] : ['sudo', '-n']),
    'sh',
    '-c',
    INSTALL,
    'sh',
    ...packages,
  ];
  return new Promise(resolve => {
    const child = spawn(words[0] as string, words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', chunk => {
        output += chunk;
      });
    }
    child.once('error', () => resolve(`${words[0]} cannot be run`));
    child.once('close', () => resolve(output.trim().split('\n').at(-1) ?? ''));
  });
}

const missing = (programs: DebianProgram[]) => programs.filter(program => find(program) === undefined);

function find(program: string): string | undefined {
  const folders = [
    ...(process.env.PATH ?? '').split(path.delimiter),
    '/usr/sbin',
    '/sbin',
    ...globSync('/usr/lib/postgresql/*/bin'),
  ];
  return folders.map(folder => path.join(folder, program)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
