/**
 * npm test: format, lint, types and tests, side by side; words after `npm test --` go to vitest. Ends with the processor
 * time of everything that it started.
 */
import { spawn } from 'node:child_process';
import { processorSeconds } from '../test/helpers/processor-time.ts';

interface Check {
  name: string;
  /** programs that run one after the other */
  commands: string[][];
}

const NODE = process.execPath;
const BESIDE: Check[] = [
  { name: 'format and lint', commands: [['biome', 'ci', '--error-on-warnings']] },
  { name: 'types', commands: [[NODE, 'scripts/console-types.ts'], ['tsc']] },
];

const began = Date.now();
const [tests, ...others] = await Promise.all([
  run(['vitest', 'run', ...process.argv.slice(2)], 'inherit'),
  ...BESIDE.map(check),
]);
for (const { name, code, output } of others) {
  console.log(code === 0 ? `${name}: in order` : `${name}: failed\n${output}`);
}
const seconds = Math.round((Date.now() - began) / 1000);
console.log(`${seconds} s, ${Math.round(processorSeconds())} s of processor time.`);
process.exitCode = [tests, ...others].every(({ code }) => code === 0) ? 0 : 1;

async function check({ name, commands }: Check) {
  let output = '';
  for (const command of commands) {
    const ended = await run(command, 'pipe');
    output += ended.output;
    if (ended.code !== 0) return { name, code: ended.code, output };
  }
  return { name, code: 0, output };
}

function run([program = '', ...words]: string[], stdout: 'inherit' | 'pipe') {
  return new Promise<{ code: number; output: string }>((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['inherit', stdout, stdout] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', data => (output += data));
    child.on('error', reject);
    child.on('close', code => resolve({ code: code ?? 1, output }));
  });
}
