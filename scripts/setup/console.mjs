import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { filesIn } from './files.mjs';

/** The folder whose packages are what builds the console, and the services. */
export const BUILD_TOOLS = 'console';

/** Files that browsers take compressed, and the size in bytes from which on it is worth it. */
const COMPRESSED = /\.(m?js|css|html|svg|json)$/;
const WORTH_IT = 1024;

/** How the console is built: see build.mjs. */
export const consoleBuild = {
  folder: 'console/src',
  built: 'console/dist',
  sources() {
    const inside = ['src', 'public'].flatMap(folder => filesIn(`console/${folder}`, { recursive: true }));
    const messages = filesIn('messages', { recursive: true });
    return [...filesIn('console', { recursive: false }), ...inside, ...messages].filter(isSource);
  },
  command: target => ({
    words: ['node_modules/vite/bin/vite.js', 'build', '--outDir', target, '--logLevel', 'warn'],
    cwd: 'console',
    // Vite takes NODE_ENV over its mode: another value makes a build without the service worker.
    env: { NODE_ENV: 'production' },
  }),
  finish: compress,
};

const isSource = name => !name.endsWith('.test.ts') && !name.endsWith('.md') && !name.includes('/generated/');

/** Puts compressed files next to those that are worth it. */
function compress(folder) {
  const names = filesIn(folder, { recursive: true }).filter(name => COMPRESSED.test(name));
  for (const file of names) {
    const bytes = readFileSync(file);
    if (bytes.length < WORTH_IT) continue;
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
  }
}
