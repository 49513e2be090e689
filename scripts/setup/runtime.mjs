import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { setupError } from './problem.mjs';

/** npm scripts look here first. */
const LINK = 'node_modules/.bin/node';

/** The package of a library that Node needs and small systems lack, by the command that installs it. */
const INSTALL = {
  'libatomic.so.1': { 'apt-get': 'libatomic1', apk: 'libatomic', dnf: 'libatomic' },
  'libstdc++.so.6': { 'apt-get': 'libstdc++6', apk: 'libstdc++', dnf: 'libstdc++' },
  'libgcc_s.so.1': { 'apt-get': 'libgcc-s1', apk: 'libgcc', dnf: 'libgcc' },
};

/**
 * Makes node_modules/.bin/node the first of these that runs on this machine: the newest Node among the optional
 * dependencies, an older one, the Node that runs npm if it is new enough (config.oldestNode of package.json).
 * docs/decisions/runtime.md says why there are two.
 *
 * @throws SetupError with the one command that helps when none does
 */
export function chooseRuntime() {
  if (process.platform === 'win32') return;
  const { optionalDependencies, config } = JSON.parse(readFileSync('package.json', 'utf8'));
  const bundled = Object.keys(optionalDependencies)
    .filter(name => name.startsWith('node-') && existsSync(programOf(name)))
    .map(name => ({ name, version: versionOf(name) }))
    .sort((a, b) => compare(b.version, a.version));
  const complaints = [];
  for (const { name, version } of bundled) {
    const failed = whyNot(programOf(name));
    if (failed === undefined) {
      if (complaints.length > 0) say(`using Node ${version}, because ${complaints[0]}`);
      link(path.relative(path.dirname(LINK), programOf(name)));
      return;
    }
    complaints.push(explain(version, failed));
  }
  const own = process.versions.node;
  if (compare(own, config.oldestNode) >= 0) {
    if (complaints.length > 0) say(`using this system's Node ${own}, because ${complaints[0]}`);
    link(process.execPath);
    return;
  }
  // The oldest needs the least of a system.
  throw setupError(
    `${complaints.at(-1) ?? 'no Node is bundled for this machine'}; or install Node ${config.oldestNode} or ` +
      `newer (npm runs on ${own}).`,
  );
}

const programOf = name => path.join('node_modules', name, 'bin/node');
const versionOf = name =>
  JSON.parse(readFileSync(path.join('node_modules', name, 'package.json'), 'utf8')).version;

/** Undefined if the program runs; else what keeps it from running. */
function whyNot(program) {
  const { status, error, stderr } = spawnSync(path.resolve(program), ['-e', ''], { encoding: 'utf8' });
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
      `the bundled Node ${version} and PostgreSQL need glibc and this system has none (musl, as in Alpine), so set ` +
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

/** @param a and b versions such as 24.7.0 */
function compare(a, b) {
  const [left, right] = [a, b].map(version => version.split('.').map(Number));
  const index = left.findIndex((part, position) => part !== right[position]);
  return index === -1 ? 0 : left[index] - right[index];
}

const say = text => console.log(`fieldtrace: ${text}`);
