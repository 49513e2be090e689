// npm run build: builds the services into dist/ and the console into console/dist, unless they were built from the same
// sources; npm run console builds only the console. It must work on every Node from 20 on and without any package.
//
//   node scripts/build.mjs [services|console ...]
import { build } from './setup/build.mjs';
import { chooseRuntime } from './setup/runtime.mjs';

const parts = process.argv.slice(2);
try {
  await build({ ...(parts.length > 0 && { parts }), runtime: chooseRuntime() });
} catch (error) {
  if (error.name !== 'SetupError') throw error;
  console.error(`fieldtrace: ${error.message}`);
  process.exit(1);
}
