// Runs before npm start, npm test and npm run bench: installs what package-lock.json asks for, picks the Node that
// everything else runs on, and builds the services and the console. It must work on every Node from 20 on and without
// any package.
//
//   node scripts/setup.mjs [--omit=dev]
import { build } from './setup/build.mjs';
import { installPackages } from './setup/packages.mjs';
import { chooseRuntime } from './setup/runtime.mjs';
import { startFromSources } from './setup/services.mjs';

const development = !process.argv.includes('--omit=dev');
try {
  const runtime = installPackages({ development }).then(chooseRuntime);
  const built = build({ runtime, development });
  built.catch(() => {});
  await runtime;
  await built.catch(startWithout);
} catch (error) {
  if (error.name !== 'SetupError') throw error;
  console.error(`fieldtrace: ${error.message}`);
  process.exit(1);
}

/** The services start without what could not be built: from src/, and without the console, whose address says so. */
function startWithout(error) {
  if (error.name !== 'SetupError') throw error;
  startFromSources();
  console.error(`fieldtrace: ${error.message}`);
}
