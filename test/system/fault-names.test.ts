import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAULTS } from '../faults/faults.ts';
import { fillDisk, openStage, type Stage } from '../faults/stage.ts';
import { fieldtrace } from '../helpers/backup.ts';
import { eventually } from '../helpers/eventually.ts';
import type { RunningProcess } from '../helpers/process.ts';
import { beginRequest, postText } from '../helpers/raw.ts';

/** Only root can mount a disk that is filled. */
const ownDisk = process.geteuid?.() === 0 && process.platform === 'linux';

/** The names of a fault: the start of a doctor line, a metric, and a log message. */
interface Names {
  fault: string;
  check: string;
  says: string;
  metric: string;
  message: string;
}

/** The table of docs/operations.md, "Fault indicators". */
async function readTable(): Promise<Names[]> {
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const rows = text.slice(text.indexOf('| fault | doctor |')).split('\n\n')[0]?.split('\n').slice(2) ?? [];
  return rows.map(row => {
    const [, fault = '', doctor = '', metric = '', message = ''] = row.split('|').map(cell => cell.trim());
    const [, check = '', says = ''] = /^`(.*)`: (.*)$/.exec(doctor) ?? [];
    const inCode = (cell: string) => /`(.*)`/.exec(cell)?.[1] ?? '';
    return { fault, check, says, metric: inCode(metric), message };
  });
}

/** A fault that lasts until it has been named. */
interface Blow {
  /** the process that names it, after the blow */
  at: 0 | 1;
  /** @returns what ends it */
  strike: (stage: Stage) => Promise<() => unknown>;
  /** to be called while it lasts, so that somebody notices */
  provoke?: (service: RunningProcess) => Promise<unknown>;
}

const random = () => 0.5;
const past = (name: keyof typeof FAULTS, at: 0 | 1): Blow => ({
  at,
  async strike(stage) {
    await FAULTS[name]?.strike(stage, random);
    await stage.served();
    return () => {};
  },
});

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
const write = ({ send }: RunningProcess) => send('POST', '/intake/scouting', observation);
const read = ({ send }: RunningProcess) => send('GET', '/packets');
const signal = (pid: number | undefined, name: NodeJS.Signals) => process.kill(pid as number, name);

const BLOWS: Record<string, Blow> = {
  failover: {
    at: 1,
    async strike({ relay }) {
      relay.failOver();
      return () => {};
    },
    provoke: read,
  },
  'black hole': {
    at: 1,
    async strike({ relay }) {
      relay.blackHole();
      return relay.heal;
    },
  },
  'pause node': {
    at: 1,
    async strike({ processes }) {
      const { pid } = (processes[1] as RunningProcess).child;
      signal(pid, 'SIGSTOP');
      const { code, out } = await doctor(stage, processes[1] as RunningProcess);
      signal(pid, 'SIGCONT');
      expect([code, out]).toEqual([1, expect.stringMatching(/^error +packet-service +is not responding/m)]);
      return () => {};
    },
  },
  'pause backend': {
    at: 0,
    async strike({ sessions }) {
      const pids = await sessions();
      for (const pid of pids) signal(pid, 'SIGSTOP');
      const answer = read(stage.processes[0] as RunningProcess);
      // It takes longer than a statement may.
      await doctor(stage, stage.processes[0] as RunningProcess);
      for (const pid of pids) signal(pid, 'SIGCONT');
      await answer;
      return () => {};
    },
  },
  'stalled clients and stop': {
    at: 1,
    async strike({ processes }) {
      const request = postText('/intake/scouting', observation);
      const { close } = await beginRequest((processes[1] as RunningProcess).url, request);
      return close;
    },
  },
  'kill one of three': past('kill one of three', 1),
  restart: {
    at: 1,
    async strike(stage) {
      const stopped = stage.processes[1] as RunningProcess;
      stopped.child.kill('SIGTERM');
      expect(await stopped.ended).toBe(0);
      expect(stopped.log()).toContain((await readTable()).find(({ fault }) => fault === 'restart')?.message);
      await stage.start(1);
      return () => {};
    },
  },
  'kill backend': past('kill backend', 0),
  'kill postmaster': past('kill postmaster', 0),
  'kill node': past('kill node', 0),
  'kill both': past('kill both', 0),
  'disk full': {
    at: 0,
    strike: ({ folder }) => fillDisk(folder),
    // A row may still have room in the pages and the log that are there.
    async provoke(service) {
      for (let n = 0; n < 1000; n++) if ((await write(service)).status !== 201) return;
    },
  },
};

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(2, ownDisk ? '768m' : undefined, {
    LOG_LEVEL: 'info',
    SLOW_STATEMENT_MILLISECONDS: '100',
    STALL_SECONDS: '1',
  });
});
afterAll(() => stage.close());

/** Runs the doctor as the operator of one process would. */
function doctor({ folder }: Stage, { url }: RunningProcess) {
  const settings = { DATA_DIR: folder, SERVICES: 'packet', PACKET_PORT: new URL(url).port };
  return fieldtrace(settings, 'doctor');
}

const lineOf = (out: string, { check, says }: Names) =>
  out.split('\n').find(line => line.slice(9).startsWith(check) && line.includes(says));

/** The sum of a metric over all its labels, or over those that contain a text. */
async function sampleOf({ send }: RunningProcess, metric: string, label = ''): Promise<number> {
  const { text } = await send('GET', '/metrics');
  const [, name = '', wanted = label] = /^(\w+)(?:\{(.*)\})?$/.exec(metric) ?? [];
  const values = [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))];
  return values
    .filter(([, labels]) => labels?.includes(wanted))
    .reduce((sum, [, , value]) => sum + Number(value), 0);
}

/**
 * Waits until the processes serve and say so. A process that serves again says for up to a second more that its database
 * has a problem, until it probes it again: to the next fault that would be no news.
 */
async function recovered(): Promise<void> {
  await stage.served();
  for (const service of stage.processes as RunningProcess[])
    await eventually(async () => (await service.send('GET', '/health')).body.status === 'OK');
}

test('the table has every fault of npm run faults', async () => {
  const faults = (await readTable()).map(({ fault }) => fault);
  expect(faults.sort()).toEqual(Object.keys(FAULTS).sort());
  expect(Object.keys(BLOWS).sort()).toEqual(Object.keys(FAULTS).sort());
});

for (const [fault, { at, strike, provoke }] of Object.entries(BLOWS)) {
  if (FAULTS[fault]?.ownDisk && !ownDisk) continue;
  test(`${fault} is named by the doctor, a metric and a line of the log`, async () => {
    const names = (await readTable()).find(row => row.fault === fault) as Names;
    const before = stage.processes[at] as RunningProcess;
    const lineBefore = lineOf((await doctor(stage, before)).out, names);
    const valueBefore = await sampleOf(before, names.metric);
    const logBefore = before.log().length;

    const heal = await strike(stage);
    const after = stage.processes[at] as RunningProcess;
    const provoked = provoke?.(after).catch(() => {});
    const isNew = after !== before;
    let out = '';
    try {
      await eventually(async () => (await sampleOf(after, names.metric)) > (isNew ? 0 : valueBefore));
      await eventually(() =>
        (isNew ? before.log() + after.log() : after.log().slice(logBefore)).includes(names.message),
      );
      ({ out } = await doctor(stage, after));
    } finally {
      await heal();
      await provoked;
    }
    expect(lineOf(out, names), out).toBeDefined();
    // Of a new process it is a new line: what it says may be what the one before said as long after its start.
    if (!isNew) expect(lineOf(out, names)).not.toBe(lineBefore);
    await recovered();
  });
}
