import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { installConsolePackages } from './packages.mjs';
import { setupError } from './problem.mjs';

const FOLDER = 'console';
const BUILT = `${FOLDER}/dist`;
/** In the built console: the hash of what it was built from. */
const MARK = `${BUILT}/.built`;
/** Files that browsers take compressed, and the size in bytes from which on it is worth it. */
const COMPRESSED = /\.(js|css|html|svg|json)$/;
const WORTH_IT = 1024;

/**
 * Builds the console, unless console/dist was built from the same sources. A package has no sources, and comes with the
 * built console.
 *
 * @param node the program that runs the build
 * @param development also installs what checks the console
 * @throws SetupError when packages cannot be installed or the build fails
 */
export async function buildConsole({ node, development = false }) {
  if (!existsSync(`${FOLDER}/src`)) return;
  const wanted = hashOfSources();
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === wanted) return;
  await installConsolePackages(FOLDER, { development });
  const began = Date.now();
  const fresh = `${BUILT}.${process.pid}`;
  const words = [
    'node_modules/vite/bin/vite.js',
    'build',
    '--outDir',
    path.basename(fresh),
    '--logLevel',
    'warn',
  ];
  const { status, stdout, stderr } = spawnSync(node, words, { cwd: FOLDER, encoding: 'utf8' });
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw setupError(`the console was not built: ${(stderr || stdout || '').trim()}`);
  }
  compress(fresh);
  writeFileSync(path.join(fresh, '.built'), wanted);
  rmSync(BUILT, { recursive: true, force: true });
  renameSync(fresh, BUILT);
  console.log(`fieldtrace: console built in ${Math.round((Date.now() - began) / 1000)} s (once)`);
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
