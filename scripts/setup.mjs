// Makes node_modules match package-lock.json before any other script runs. It must work on every Node from
// 20 on, because it is what installs the Node that everything else runs on.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

const installed = 'node_modules/.package-lock.json';
const upToDate =
  existsSync(installed) && statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs;

if (!upToDate) {
  console.log('fieldtrace: installing dependencies (once)');
  const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit', '--loglevel=error'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    console.error('fieldtrace: npm ci failed; its message stands above');
    process.exit(1);
  }
}
