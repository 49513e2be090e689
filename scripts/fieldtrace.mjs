#!/usr/bin/env node
// The command `fieldtrace`: runs src/cli.ts on the Node that the services run on. It must work on every Node from 20 on
// and without any package.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { findRuntime } from './setup/runtime.mjs';

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../node_modules/', import.meta.url));
const LINKED = `${PACKAGES}.bin/node`;

function fail(sentence) {
  console.error(`fieldtrace: ${sentence}`);
  process.exit(1);
}

/** What npm start has chosen, else what it would choose. */
function runtime() {
  if (existsSync(LINKED)) return LINKED;
  try {
    return findRuntime().program;
  } catch (error) {
    if (error.name !== 'SetupError') throw error;
    return fail(error.message);
  }
}

if (!existsSync(`${PACKAGES}fastify`)) {
  fail(
    `its packages are not installed: run npm ci --omit=dev in ${fileURLToPath(new URL('..', import.meta.url))}`,
  );
}
const words = ['--disable-warning=ExperimentalWarning', CLI, ...process.argv.slice(2)];
const env = { NODE_COMPILE_CACHE: `${PACKAGES}.cache/compiled`, ...process.env };
const child = spawn(runtime(), words, { stdio: 'inherit', env });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // A terminal sends SIGINT to both processes.
  process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
}
child.on('error', error => fail(`${error.path} cannot be run: ${error.code}`));
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
