import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setupError } from './problem.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** npm scripts look here first. */
const LINK = path.join(ROOT, 'node_modules/.bin/node');

/** The package of a library that Node needs and small systems lack, by the command that installs it. */
const INSTALL = {
  'libatomic.so.1': { 'apt-get': 'libatomic1', apk: 'libatomic', dnf: 'libatomic' },
  'libstdc++.so.6': { 'apt-get': 'libstdc++6', apk: 'libstdc++', dnf: 'libstdc++' },
  'libgcc_s.so.1': { 'apt-get': 'libgcc-s1', apk: 'libgcc', dnf: 'libgcc' },
};

/**
 * Makes node_modules/.bin/node the Node that everything else runs on, and says why if it is not the newest bundled one.
 *
 * @returns the path of its program
 * @throws SetupError with the one command that helps when none runs
 */
export function chooseRuntime() {
  if (process.platform === 'win32') return process.execPath;
  const { program, instead } = findRuntime();
  if (instead !== undefined) console.log(`fieldtrace: ${instead}`);
  link(program === process.execPath ? program : path.relative(path.dirname(LINK), program));
  return program;
}

/**
 * Checks that the Node that runs this can run the services.
 *
 * @throws SetupError if it is too old
 */
export function requireOwnNode() {
  const { config } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const own = process.versions.node;
  if (compareVersions(own, config.oldestNode) >= 0) return;
  throw setupError(
    `without the bundled Node, Node ${config.oldestNode} or newer is required (npm runs on ${own}).`,
  );
}

/**
 * The first of these that runs on this machine: the newest Node among the optional dependencies, an older one, the Node
 * that runs this if it is new enough (config.oldestNode of package.json). docs/decisions/runtime.md says why there are
 * two.
 *
 * @returns the path of the program, and in words why it is not the newest bundled one, if it is not
 * @throws SetupError with the one command that helps when none runs
 */
export function findRuntime() {
  const { optionalDependencies, config } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const bundled = Object.keys(optionalDependencies)
    .filter(name => name.startsWith('node-') && existsSync(programOf(name)))
    .map(name => ({ name, version: versionOf(name) }))
    .sort((a, b) => compareVersions(b.version, a.version));
  const complaints = [];
  for (const { name, version } of bundled) {
    const failed = whyNot(programOf(name));
    if (failed === undefined)
      return { program: programOf(name), instead: because(`Node ${version}`, complaints) };
    complaints.push(explain(version, failed));
  }
  const own = process.versions.node;
  if (compareVersions(own, config.oldestNode) >= 0) {
    return { program: process.execPath, instead: because(`this system's Node ${own}`, complaints) };
  }
  // The oldest needs the least of a system.
  throw setupError(
    `${complaints.at(-1) ?? 'no Node is bundled for this machine'}; or install Node ${config.oldestNode} or ` +
      `newer (npm runs on ${own}).`,
  );
}

const because = (what, [complaint]) =>
  complaint === undefined ? undefined : `using ${what}, because ${complaint}`;
const programOf = name => path.join(folderOf(name), 'bin/node');
const versionOf = name => JSON.parse(readFileSync(path.join(folderOf(name), 'package.json'), 'utf8')).version;

/** Where a package is, or would be: next to this one if this is installed as a package. */
function folderOf(name) {
  const own = path.join(ROOT, 'node_modules', name);
  const sibling = path.resolve(ROOT, '..', name);
  const isPackage = path.basename(path.dirname(sibling)) === 'node_modules';
  return isPackage && !existsSync(own) ? sibling : own;
}

/** Undefined if the program runs; else what keeps it from running. */
function whyNot(program) {
  const { status, error, stderr } = spawnSync(program, ['-e', ''], { encoding: 'utf8' });
  if (status === 0) return undefined;
  // The file exists, so what is missing is the loader that it names.
  if (error?.code === 'ENOENT') return { glibc: true };
  return {
    library: /(\S+\.so\.\d+)/.exec(stderr ?? '')?.[1],
    text: error?.message ?? stderr.trim().split('\n')[0],
  };
}

function explain(version, { glibc, library, text }) {
  if (glibc) {
    return (
      `the bundled Node ${version} and PostgreSQL need glibc, which this system lacks (musl, as in Alpine): set ` +
      'DATABASE_URL to a separate PostgreSQL server'
    );
  }
  const commands = INSTALL[library];
  if (commands === undefined) return `the bundled Node ${version} does not run: ${text}`;
  const manager = Object.keys(commands).find(isInstalled) ?? 'apt-get';
  return `Node ${version} needs ${library}, which is missing (${manager} install ${commands[manager]})`.replace(
    'apk install',
    'apk add',
  );
}

const isInstalled = command =>
  (process.env.PATH ?? '').split(path.delimiter).some(folder => existsSync(path.join(folder, command)));

/** Replaced by a rename: other processes always find one. */
function link(target) {
  try {
    if (readlinkSync(LINK) === target) return;
  } catch {
    // There is none yet.
  }
  const fresh = `${LINK}.${process.pid}`;
  mkdirSync(path.dirname(LINK), { recursive: true });
  symlinkSync(target, fresh);
  renameSync(fresh, LINK);
}

/**
 * @param a and b versions such as 24.7.0
 * @returns below 0 if a is older, above if it is newer
 */
export function compareVersions(a, b) {
  const [left, right] = [a, b].map(version => version.split('.').map(Number));
  const index = left.findIndex((part, position) => part !== right[position]);
  return index === -1 ? 0 : left[index] - right[index];
}
