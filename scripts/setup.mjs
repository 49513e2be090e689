// Runs before npm start, npm test and npm run bench: installs what package-lock.json asks for, picks the Node that
// everything else runs on, and builds the console. It must work on every Node from 20 on and without any package.
//
//   node scripts/setup.mjs [--omit=dev]
import { buildConsole } from './setup/console.mjs';
import { installPackages } from './setup/packages.mjs';
import { chooseRuntime } from './setup/runtime.mjs';

const development = !process.argv.includes('--omit=dev');
try {
  const runtime = installPackages({ development }).then(chooseRuntime);
  const built = buildConsole({ runtime, development });
  built.catch(() => {});
  await runtime;
  await built.catch(tellWithoutConsole);
} catch (error) {
  if (error.name !== 'SetupError') throw error;
  console.error(`fieldtrace: ${error.message}`);
  process.exit(1);
}

/** The services start without it; its address then says how to build it. */
function tellWithoutConsole(error) {
  if (error.name !== 'SetupError') throw error;
  console.error(`fieldtrace: ${error.message}`);
}
