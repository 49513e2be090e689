import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { reportOf } from './report.ts';
import { onCluster, randomPlan, runFaults, SERVER, troublesOf } from './run.ts';

const USAGE = `usage: npm run faults -- [--count 30] [--minutes 10] [--seed 1] [--writers 8] [--only 'kill node'] [--report FILE] [--citus FOLDER]
It ends after so many faults or minutes, whichever comes first, and with 1 when anything was lost, doubled or changed.
--citus starts a cluster of Citus, with the programs in this folder (initdb, postgres), and strikes its servers.`;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '30' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    writers: { type: 'string', default: '8' },
    only: { type: 'string' },
    report: { type: 'string' },
    citus: { type: 'string' },
    help: { type: 'boolean' },
  },
});
const [count, minutes, seed, writers] = [values.count, values.minutes, values.seed, values.writers].map(
  Number,
) as [number, number, number, number];
const campaign = values.citus === undefined ? SERVER : onCluster(values.citus);
const kinds = Object.keys(campaign.faults);
const bounded =
  count >= 1 &&
  count <= 10_000 &&
  minutes > 0 &&
  minutes <= 600 &&
  writers >= 1 &&
  writers <= 100 &&
  Number.isInteger(seed);
if (values.help || !bounded || (values.only !== undefined && !kinds.includes(values.only))) {
  console.error(`${USAGE}\nKinds: ${kinds.join(', ')}`);
  process.exit(values.help ? 0 : 1);
}

/** Only root can mount the small disk that is filled. */
const ownDisk = process.geteuid?.() === 0 && process.platform === 'linux';
if (!ownDisk && !values.citus) console.log('not root on Linux: the fault "disk full" is left out');
const plan = values.only
  ? Array.from({ length: count }, () => values.only as string)
  : randomPlan(campaign, count, seed, ownDisk);

const calledOff = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => calledOff.abort());
const onLine = (line: string) => console.log(line);
const outcome = await runFaults({ campaign, plan, minutes, seed, writers, onLine, signal: calledOff.signal });
const report = reportOf(outcome, { campaign, count, seed });
console.log(`\n${report}`);
if (values.report) await writeFile(values.report, report);
const troubles = troublesOf(outcome);
for (const trouble of troubles) console.error(trouble);
process.exit(troubles.length === 0 ? 0 : 1);
