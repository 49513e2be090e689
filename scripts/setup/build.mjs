import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BUILD_TOOLS, consoleBuild } from './console.mjs';
import { installConsolePackages } from './packages.mjs';
import { setupError } from './problem.mjs';
import { compareVersions } from './runtime.mjs';
import { servicesBuild } from './services.mjs';

/** What is built, by its name. */
const BUILDS = { services: servicesBuild, console: consoleBuild };

/** In what was built: the hash of what it was built from. */
const MARK = '.built';

/**
 * Builds the services into dist/ and the console into console/dist, unless they were built from the same sources. A
 * package has no sources, and comes with both. The tools are those of the console's packages, which are installed if
 * something is to be built. The Node that runs this also runs the tools, if it is new enough, so that a first start builds
 * while it downloads the bundled one.
 *
 * @param parts the names of what to build
 * @param runtime a promise of the Node that runs the tools otherwise, by its path
 * @param development also installs what checks the console
 * @throws SetupError when packages cannot be installed or a build fails
 */
export async function build({ parts = Object.keys(BUILDS), runtime, development = false }) {
  if (!existsSync(`${BUILD_TOOLS}/src`)) return;
  const known = parts.map(name => ({ name, ...BUILDS[name] })).filter(({ folder }) => existsSync(folder));
  const stale = known.map(part => ({ ...part, hash: hashOf(part.sources()) })).filter(part => !isBuilt(part));
  if (stale.length > 0 || development) await installConsolePackages(BUILD_TOOLS, { development });
  for (const part of stale) await buildPart(part, isNewEnough() ? process.execPath : await runtime);
}

function isBuilt({ built, hash }) {
  const mark = path.join(built, MARK);
  return existsSync(mark) && readFileSync(mark, 'utf8') === hash;
}

/** Builds into a folder next to the last build, and replaces that only if nothing failed. */
async function buildPart({ name, built, hash, command, finish }, node) {
  const began = Date.now();
  const fresh = path.resolve(`${built}.${process.pid}`);
  const complaint = await run(node, command(fresh));
  if (complaint !== undefined) {
    rmSync(fresh, { recursive: true, force: true });
    throw setupError(`${name} not built: ${complaint}`);
  }
  finish?.(fresh);
  writeFileSync(path.join(fresh, MARK), hash);
  rmSync(built, { recursive: true, force: true });
  renameSync(fresh, built);
  console.log(`fieldtrace: ${name} built in ${Math.round((Date.now() - began) / 1000)} s (once)`);
}

/** Whether Vite runs on this Node, by what it says of itself, such as "^20.19.0 || >=22.12.0". */
function isNewEnough() {
  const lock = JSON.parse(readFileSync(`${BUILD_TOOLS}/package-lock.json`, 'utf8'));
  const own = process.versions.node;
  return lock.packages['node_modules/vite'].engines.node.split(' || ').some(range => {
    const [, sign, oldest] = /^(\^|>=)(\d+\.\d+\.\d+)$/.exec(range) ?? [];
    if (sign === undefined || compareVersions(own, oldest) < 0) return false;
    return sign === '>=' || own.split('.')[0] === oldest.split('.')[0];
  });
}

/** @returns what is wrong, if the command fails */
function run(node, { words, cwd, env }) {
  const child = spawn(node, words, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => child.kill();
  process.once('exit', stop);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', status => {
      process.removeListener('exit', stop);
      resolve(status === 0 ? undefined : output.trim());
    });
  });
}

/** Of the names and contents of files. */
function hashOf(names) {
  const hash = createHash('sha256');
  for (const name of names.sort()) hash.update(`${name}\0`).update(readFileSync(name)).update('\0');
  return hash.digest('hex');
}
