/**
 * Runs before `npm pack`: writes the services as JavaScript into dist/, because Node does not strip types from files in
 * node_modules. Types become spaces, so lines and columns are those of src/. After packing, npm removes dist/.
 */
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';

const SOURCES = path.resolve(import.meta.dirname, '../src');
const TARGET = path.resolve(import.meta.dirname, '../dist');

/** Files of the sources that the services do not use. */
const isForTests = (file: string) => file.endsWith('.test.ts') || /(^|\/)fixtures\//.test(file);

/** Relative addresses in imports and in `new URL(…)`. */
const ADDRESS = /'(\.{1,2}\/[^'\n]*)\.ts'/g;

rmSync(TARGET, { recursive: true, force: true });
for (const entry of globSync('**', { cwd: SOURCES, withFileTypes: true })) {
  const source = path.join(entry.parentPath, entry.name);
  const file = path.relative(SOURCES, source).replaceAll(path.sep, '/');
  if (!entry.isFile() || isForTests(file)) continue;
  const target = path.join(TARGET, file);
  mkdirSync(path.dirname(target), { recursive: true });
  if (file.endsWith('.ts')) writeFileSync(target.replace(/\.ts$/, '.js'), javaScript(source));
  else copyFileSync(source, target);
}

/** @throws Error if an address names a file that does not exist */
function javaScript(source: string): string {
  const stripped = stripTypeScriptTypes(readFileSync(source, 'utf8'));
  return stripped.replaceAll(ADDRESS, (_, address: string) => {
    const named = path.resolve(path.dirname(source), `${address}.ts`);
    if (!existsSync(named)) throw new Error(`${source} names ${address}.ts, which does not exist`);
    return `'${address}.js'`;
  });
}
