import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { filesIn } from './files.mjs';

const BUILT = 'dist';

/** How the services are built: see build.mjs. */
export const servicesBuild = {
  folder: 'src',
  built: BUILT,
  sources: () => [
    ...filesIn('src', { recursive: true }).filter(isForServices),
    'messages/fill.ts',
    'scripts/setup/bundle.mjs',
    'console/package-lock.json',
  ],
  command: target => ({ words: ['scripts/setup/bundle.mjs', target] }),
};

/** Whether the services use a file of src/: its tests and what only they use are left out. */
export const isForServices = name => !name.endsWith('.test.ts') && !/(^|\/)fixtures\//.test(name);

/** Makes dist/ start what is in src/, which takes longer, where the services cannot be built. */
export function startFromSources() {
  rmSync(BUILT, { recursive: true, force: true });
  mkdirSync(BUILT);
  for (const program of ['main', 'cli']) {
    const source = JSON.stringify(`../src/${program}.ts`);
    writeFileSync(`${BUILT}/${program}.js`, `import ${source};\n`);
  }
}
