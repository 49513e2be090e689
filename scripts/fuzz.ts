import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

// npm run fuzz -- [--seed 7] [--count 100000] [--minutes 60]: requests that a seed decides, to both services on databases
// of their own.
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    count: { type: 'string', default: '50000' },
    minutes: { type: 'string', default: '60' },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (/^[0-9]{1,10}$/.test(value)) continue;
  console.error(`--${name} must be a whole number`);
  process.exit(1);
}
console.log(`seed ${values.seed}, ${values.count} requests`);
const run = spawn('vitest', ['run', 'test/fuzz'], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_SEED: values.seed, FUZZ_COUNT: values.count, FUZZ_MINUTES: values.minutes },
});
run.on('error', error => {
  console.error(error.message);
  process.exitCode = 1;
});
run.on('exit', code => {
  process.exitCode = code ?? 1;
});
