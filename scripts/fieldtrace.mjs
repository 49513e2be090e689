#!/usr/bin/env node
// The command `fieldtrace`: runs src/cli.ts, or src/main.ts for `fieldtrace start`, on the Node that the services run
// on; in an installed package or an image, which have no src/, what was built of them in dist/. It must work on every
// Node from 20 on and without any package.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findRuntime } from './setup/runtime.mjs';

const here = name => fileURLToPath(new URL(`../${name}`, import.meta.url));
const isPackage = !existsSync(here('src'));
const LINKED = here('node_modules/.bin/node');

function fail(sentence) {
  console.error(`fieldtrace: ${sentence}`);
  process.exit(1);
}

/** What npm start has chosen, else what it would choose. */
function runtime() {
  if (!isPackage && existsSync(LINKED)) return LINKED;
  try {
    return findRuntime().program;
  } catch (error) {
    if (error.name !== 'SetupError') throw error;
    return fail(error.message);
  }
}

function isInstalled(name) {
  try {
    return createRequire(import.meta.url).resolve(name) !== undefined;
  } catch {
    return false;
  }
}

if (!isInstalled('fastify')) {
  fail(`packages are not installed: run npm ci --omit=dev in ${here('')}`);
}
const args = process.argv.slice(2);
const program = args.length === 1 && args[0] === 'start' ? 'main' : 'cli';
const script = isPackage ? here(`dist/${program}.js`) : here(`src/${program}.ts`);
const words = ['--disable-warning=ExperimentalWarning', script, ...(program === 'cli' ? args : [])];
const env = { NODE_COMPILE_CACHE: here('node_modules/.cache/compiled'), ...process.env };
const child = spawn(runtime(), words, { stdio: 'inherit', env });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // A terminal sends SIGINT to both processes.
  process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
}
child.on('error', error => fail(`cannot run ${error.path}: ${error.code}`));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
