// Runs before npm start, npm test and npm run bench: installs what package-lock.json asks for and picks the Node
// that everything else runs on. It must work on every Node from 20 on and without any package.
//
//   node scripts/setup.mjs [--omit=dev]
import { installPackages } from './setup/packages.mjs';
import { chooseRuntime } from './setup/runtime.mjs';

try {
  await installPackages({ development: !process.argv.includes('--omit=dev') });
  chooseRuntime();
} catch (error) {
  if (error.name !== 'SetupError') throw error;
  console.error(`fieldtrace: ${error.message}`);
  process.exit(1);
}
