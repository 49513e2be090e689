import { cp, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The files that the launcher needs; it finds the rest relative to itself. */
const COPIED = [
  'package.json',
  'scripts/fieldtrace.mjs',
  'scripts/setup/problem.mjs',
  'scripts/setup/runtime.mjs',
];
const LINKED = ['dist', 'console', 'deploy', 'docs', 'openapi', 'node_modules'];

/**
 * Puts fieldtrace into a folder as npm installs it: built, without sources, and with the command in `.bin`. A start from
 * sources takes twice the processor time.
 *
 * @param modules a folder node_modules
 * @returns the launcher, which is a program of Node
 */
export async function installPackage(modules: string): Promise<string> {
  const folder = path.join(modules, 'fieldtrace');
  for (const name of COPIED) await cp(path.join(ROOT, name), path.join(folder, name));
  for (const name of LINKED) await symlink(path.join(ROOT, name), path.join(folder, name));
  const launcher = path.join(folder, 'scripts/fieldtrace.mjs');
  await mkdir(path.join(modules, '.bin'), { recursive: true });
  await symlink(launcher, path.join(modules, '.bin/fieldtrace'));
  return launcher;
}
