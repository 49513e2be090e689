/**
 * Tries the README's two commands as a newcomer would, in a minimal Debian 12 that has Node 20, npm and nothing else:
 * as an ordinary user and as root, whose home directory is closed to all others. Prints a table, and exits with 1 if
 * anything failed.
 *
 * npm run fresh [start|test] [ana|root]      as root, with debootstrap installed
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Account, copyProject, endScripts, makeMachine } from './fresh/machine.ts';
import { tryStart, tryTest } from './fresh/tries.ts';

const [only, onlyAs] = process.argv.slice(2);
if (process.geteuid?.() !== 0 || spawnSync('debootstrap', ['--version']).status !== 0) {
  console.error('npm run fresh needs root and debootstrap (apt-get install debootstrap)');
  process.exit(1);
}

// The user first: root's tests install programs that this user may not install.
const accounts: Account[] = [
  { name: 'ana', home: '/home/ana', uid: 1000 },
  { name: 'root', home: '/root', uid: 0 },
];
const folder = mkdtempSync('/var/tmp/fieldtrace-fresh-');
const clean = () => rmSync(folder, { recursive: true, force: true });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endScripts();
    clean();
    process.exit(1);
  });
}

const results: string[] = [];
let failed = false;
try {
  const machine = makeMachine(folder);
  for (const account of accounts) {
    if (onlyAs !== undefined && onlyAs !== account.name) continue;
    copyProject(machine, account, path.resolve(import.meta.dirname, '..'));
    for (const [command, attempt] of [
      ['start', tryStart],
      ['test', tryTest],
    ] as const) {
      if (only !== undefined && only !== command) continue;
      const { ok, result } = await attempt(machine, account);
      failed ||= !ok;
      results.push(`| ${account.name} | npm ${command} | ${ok ? 'passes' : 'FAILS'} | ${result} |`);
      console.log(results.at(-1));
    }
  }
} finally {
  clean();
}
console.log(`\n| as | command | it | |\n|---|---|---|---|\n${results.join('\n')}`);
process.exitCode = failed ? 1 : 0;
