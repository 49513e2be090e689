import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, latencies, type Measured, median, type Row } from './context.ts';
import { startOnce } from './start.ts';

const CLIENTS = 32;
const ROUNDS = 5;
/** How long the command that runs during intake starts, about, in milliseconds: a base backup has no start of its own. */
const STARTING_MS = 3000;

/**
 * Intake with backups, and during a base backup, against intake without, in alternating rounds, each service with an
 * embedded database of its own; and a warm start with and without backups. The first base backup has ended before.
 */
export async function backupRows(context: Context): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-bench-'));
  const [off, on] = [path.join(folder, 'off'), path.join(folder, 'on')];
  const target = path.join(folder, 'target');
  await mkdir(target);
  const backups = { BACKUP_URL: `file://${target}`, BACKUP_KEY: 'a passphrase for benchmarks' };
  const service = (dataDir: string, more = {}) =>
    context.startService({ DATABASE_URL: '', DATA_DIR: dataDir, ...more });
  const [without, having] = [await service(off), await service(on, backups)];
  await backedUp(having);
  const intake = ({ port }: Measured) =>
    context.load({ port, connections: CLIENTS, requests: './requests/scouting.ts', options: null });
  await intake(without);
  await intake(having);
  const archiving = await ratioOf(intake, without, having);
  const during = await ratioOf(intake, without, having, () =>
    commandSeconds(['backup', 'now'], { DATA_DIR: on, ...backups }),
  );
  await without.stop();
  await having.stop();
  const startsWithout = await startTimes(off, {});
  const starts = await startTimes(on, backups);
  await rm(folder, { recursive: true, force: true });
  const against = 'without backups';
  return [
    {
      name: 'scouting intake with backups, 32 clients',
      value: archiving.perSecond,
      unit: 'packets/s',
      against: { name: against, ratio: archiving.ratio },
      note: archiving.note,
    },
    {
      name: 'scouting intake during a base backup, 32 clients',
      value: during.perSecond,
      unit: 'packets/s',
      against: { name: against, ratio: during.ratio },
      note: during.note,
    },
    {
      name: 'warm start with backups to the first answer',
      value: median(starts),
      unit: 's',
      against: { name: against, ratio: median(starts) / median(startsWithout) },
    },
  ];
}

type Intake = (service: Measured) => ReturnType<Context['load']>;

/** Medians of alternating rounds. @param alongside begins with each round of `having`, and is awaited after it */
async function ratioOf(
  intake: Intake,
  without: Measured,
  having: Measured,
  alongside?: () => Promise<unknown>,
): Promise<{ perSecond: number; ratio: number; note: string }> {
  const rates: number[] = [];
  const ratios: number[] = [];
  let note = '';
  for (let round = 0; round < ROUNDS; round++) {
    const plain = await intake(without);
    const other = alongside?.();
    if (other) await sleep(STARTING_MS);
    const result = await intake(having);
    await other;
    rates.push(result.perSecond);
    ratios.push(result.perSecond / plain.perSecond);
    note = latencies(result);
  }
  return { perSecond: median(rates), ratio: median(ratios), note };
}

async function startTimes(dataDir: string, environment: Record<string, string>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await startOnce(dataDir, environment));
  return times;
}

/** Waits until the first base backup has ended. */
export async function backedUp({ port }: Measured): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
    const { details } = (await answer.json()) as { details: { name: string; status: string }[] };
    if (details.find(({ name }) => name === 'backup')?.status === 'OK') return;
    await sleep(200);
  }
}

/** @returns seconds that a command of fieldtrace took */
export async function commandSeconds(words: string[], environment: Record<string, string>): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, ['src/cli.ts', ...words], {
    cwd: path.resolve(import.meta.dirname, '..'),
    env: { ...process.env, LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (said += chunk));
  const code = await new Promise(resolve => child.once('close', resolve));
  if (code !== 0) throw new Error(`fieldtrace ${words.join(' ')} ended with ${code}:\n${said}`);
  return (performance.now() - began) / 1000;
}
