import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { FAULTS } from './faults.ts';
import { reportOf } from './report.ts';
import { randomPlan, runFaults, troublesOf } from './run.ts';

const USAGE = `usage: npm run faults -- [--count 30] [--minutes 10] [--seed 1] [--writers 8] [--only 'kill node'] [--report FILE]
It ends after so many faults or minutes, whichever comes first, and with 1 when anything was lost, doubled or changed.
Kinds: ${Object.keys(FAULTS).join(', ')}`;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '30' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    writers: { type: 'string', default: '8' },
    only: { type: 'string' },
    report: { type: 'string' },
    help: { type: 'boolean' },
  },
});
const [count, minutes, seed, writers] = [values.count, values.minutes, values.seed, values.writers].map(
  Number,
) as [number, number, number, number];
const bounded =
  count >= 1 &&
  count <= 10_000 &&
  minutes > 0 &&
  minutes <= 600 &&
  writers >= 1 &&
  writers <= 100 &&
  Number.isInteger(seed);
if (values.help || !bounded || (values.only !== undefined && !(values.only in FAULTS))) {
  console.error(USAGE);
  process.exit(values.help ? 0 : 1);
}

/** Only root can mount the small disk that is filled. */
const ownDisk = process.geteuid?.() === 0 && process.platform === 'linux';
if (!ownDisk) console.log('not root on Linux: the fault "disk full" is left out');
const plan = values.only
  ? Array.from({ length: count }, () => values.only as string)
  : randomPlan(count, seed, ownDisk);

const calledOff = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => calledOff.abort());
const tell = (line: string) => console.log(line);
const outcome = await runFaults({ plan, minutes, seed, writers, tell, signal: calledOff.signal });
const report = reportOf(outcome, { asked: count, seed });
console.log(`\n${report}`);
if (values.report) await writeFile(values.report, report);
const troubles = troublesOf(outcome);
for (const trouble of troubles) console.error(trouble);
process.exit(troubles.length === 0 ? 0 : 1);
