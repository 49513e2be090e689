// npm run console: builds the web console into console/dist, unless it was built from the same sources. It must work on
// every Node from 20 on and without any package.
import { buildConsole } from './setup/console.mjs';
import { chooseRuntime } from './setup/runtime.mjs';

try {
  await buildConsole({ runtime: chooseRuntime() });
} catch (error) {
  if (error.name !== 'SetupError') throw error;
  console.error(`fieldtrace: ${error.message}`);
  process.exit(1);
}
