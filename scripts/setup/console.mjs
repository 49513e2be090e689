import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { installConsolePackages } from './packages.mjs';
import { setupError } from './problem.mjs';
import { compareVersions } from './runtime.mjs';

const FOLDER = 'console';
const BUILT = `${FOLDER}/dist`;
/** In the built console: the hash of what it was built from. */
const MARK = `${BUILT}/.built`;
/** Files that browsers take compressed, and the size in bytes from which on it is worth it. */
const COMPRESSED = /\.(m?js|css|html|svg|json)$/;
const WORTH_IT = 1024;

/**
 * Builds the console, unless console/dist was built from the same sources. A package has no sources, and comes with the
 * built console. The Node that runs this also runs the build, if it is new enough, so that a first start builds while it
 * downloads the bundled one.
 *
 * @param runtime a promise of the Node that runs the build otherwise, by its path
 * @param development also installs what checks the console
 * @throws SetupError when packages cannot be installed or the build fails
 */
export async function buildConsole({ runtime, development = false }) {
  if (!existsSync(`${FOLDER}/src`)) return;
  const wanted = hashOfSources();
  const isBuilt = existsSync(MARK) && readFileSync(MARK, 'utf8') === wanted;
  if (!isBuilt || development) await installConsolePackages(FOLDER, { development });
  if (isBuilt) return;
  const began = Date.now();
  const fresh = `${BUILT}.${process.pid}`;
  const node = isNewEnough() ? process.execPath : await runtime;
  const complaint = await build(node, path.basename(fresh));
  if (complaint !== undefined) {
    rmSync(fresh, { recursive: true, force: true });
    throw setupError(`the console was not built: ${complaint}`);
  }
  compress(fresh);
  writeFileSync(path.join(fresh, '.built'), wanted);
  rmSync(BUILT, { recursive: true, force: true });
  renameSync(fresh, BUILT);
  console.log(`fieldtrace: console built in ${Math.round((Date.now() - began) / 1000)} s (once)`);
}

/** Whether Vite runs on this Node, by what it says of itself, such as "^20.19.0 || >=22.12.0". */
function isNewEnough() {
  const lock = JSON.parse(readFileSync(`${FOLDER}/package-lock.json`, 'utf8'));
  const own = process.versions.node;
  return lock.packages['node_modules/vite'].engines.node.split(' || ').some(range => {
    const [, sign, oldest] = /^(\^|>=)(\d+\.\d+\.\d+)$/.exec(range) ?? [];
    if (sign === undefined || compareVersions(own, oldest) < 0) return false;
    return sign === '>=' || own.split('.')[0] === oldest.split('.')[0];
  });
}

/** @returns what is wrong, if the build fails */
function build(node, folder) {
  const words = ['node_modules/vite/bin/vite.js', 'build', '--outDir', folder, '--logLevel', 'warn'];
  const child = spawn(node, words, { cwd: FOLDER, stdio: ['ignore', 'pipe', 'pipe'] });
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

/** Of all that the build reads. */
function hashOfSources() {
  const hash = createHash('sha256');
  const inside = ['src', 'public'].flatMap(folder => filesIn(`${FOLDER}/${folder}`, true));
  const names = [...filesIn(FOLDER, false), ...inside].filter(isSource).sort();
  for (const name of names) hash.update(`${name}\0`).update(readFileSync(name)).update('\0');
  return hash.digest('hex');
}

const isSource = name => !name.endsWith('.test.ts') && !name.endsWith('.md') && !name.includes('/generated/');

/** The files in a folder, by their paths with slashes. */
function filesIn(folder, recursive) {
  return readdirSync(folder, { recursive, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath ?? entry.path, entry.name).replaceAll(path.sep, '/'));
}

/** Puts compressed files beside those that are worth it. */
function compress(folder) {
  for (const file of filesIn(folder, true).filter(name => COMPRESSED.test(name))) {
    const bytes = readFileSync(file);
    if (bytes.length < WORTH_IT) continue;
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
  }
}
