// Writes the services as a few JavaScript files. A start from src/ loads 600 modules, each found, read and linked by
// itself; from these files it takes four fifths of the processor time. Node does not strip types in node_modules either,
// so this is what a package contains. Packages are not bundled.
//
//   node scripts/setup/bundle.mjs FOLDER
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { filesIn } from './files.mjs';
import { isForServices } from './services.mjs';

/** A thread's program, by its own address. */
const THREAD = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g;

const [target] = process.argv.slice(2);
const tools = createRequire(path.resolve('console/package.json'));
const { build } = await import(tools.resolve('vite'));

const names = filesIn('src', { recursive: true }).filter(isForServices);
const threads = names.flatMap(threadsOf);
const programs = ['src/main.ts', 'src/cli.ts', ...threads];
const input = Object.fromEntries(programs.map(name => [path.basename(name, '.ts'), path.resolve(name)]));
if (Object.keys(input).length < programs.length) throw new Error(`two of these have one name: ${programs}`);

await build({
  configFile: false,
  logLevel: 'warn',
  plugins: [ownAddresses()],
  build: {
    ssr: true,
    target: 'esnext',
    outDir: target,
    emptyOutDir: true,
    copyPublicDir: false,
    minify: false,
    sourcemap: true,
    rolldownOptions: {
      input,
      external: id => !/^[./\0]/.test(id),
      // All in one folder, which ownAddresses() relies on.
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
for (const name of names.filter(name => !name.endsWith('.ts'))) {
  const copy = path.join(target, path.relative('src', name));
  mkdirSync(path.dirname(copy), { recursive: true });
  copyFileSync(name, copy);
}

/** The programs of the threads that a module starts. */
function threadsOf(name) {
  if (!name.endsWith('.ts')) return [];
  const threads = readFileSync(name, 'utf8').matchAll(THREAD);
  return [...threads].map(([, program]) => path.join(path.dirname(name), `${program}.ts`));
}

/**
 * A module finds files next to it by its own address, import.meta.url. The modules get the address they would have if
 * their folders were those of src/, where the files next to them are; threads are programs in the one folder of all.
 */
function ownAddresses() {
  return {
    name: 'own-addresses',
    enforce: 'pre',
    transform(code, id) {
      const own = path.relative('src', id).replaceAll(path.sep, '/');
      if (own.startsWith('..') || !code.includes('import.meta')) return null;
      const changed = code
        .replace(THREAD, "new URL('./$1.js', IMPORT_META_URL)")
        .replaceAll('import.meta.url', `new URL('./${own}', IMPORT_META_URL).href`);
      if (/import\.meta\b/.test(changed)) throw new Error(`${own}: only import.meta.url is supported here`);
      return { code: changed.replaceAll('IMPORT_META_URL', 'import.meta.url'), map: null };
    },
  };
}
