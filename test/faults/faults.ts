import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../helpers/eventually.ts';
import { beginRequest, postText } from '../helpers/raw.ts';
import { pick } from './random.ts';
import { fillDisk, type Stage } from './stage.ts';

/** One way in which things go wrong. It resolves when the cause is gone; whether all serve again is looked at after. */
export interface Fault<On extends Stage = Stage> {
  /** how many of a hundred are of this kind */
  share: number;
  /** in words, for the report */
  what: string;
  /** a disk of its own, which only root can make */
  ownDisk?: true;
  strike(stage: On, random: () => number): Promise<void>;
}

/** How long a trouble lasts: a fifth of a second to one. */
export const lasts = (random: () => number) => wait(200 + 800 * random());

const anyOf = ({ processes }: Stage, random: () => number) => Math.floor(random() * processes.length);

/** Sends a signal; a process that has ended meanwhile is past it. */
export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Kills a process of PostgreSQL, and waits until the sessions are gone that lived before: they serve a moment longer. */
async function killServer(stage: Stage, pid: number | undefined): Promise<void> {
  const sessions = await stage.sessions();
  signal(pid, 'SIGKILL');
  await eventually(() => sessions.every(session => !lives(session)));
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Pauses a process for a while. */
async function pause(pid: number | undefined, random: () => number): Promise<void> {
  signal(pid, 'SIGSTOP');
  await lasts(random).finally(() => signal(pid, 'SIGCONT'));
}

/** Ends a process as an operator does, and starts it again. */
async function restart(stage: Stage, at: number, signals: number): Promise<void> {
  const stopped = stage.processes[at];
  if (!stopped) return;
  stage.processes[at] = undefined;
  for (let n = 0; n < signals; n++) {
    stopped.child.kill('SIGTERM');
    if (n + 1 < signals) await wait(300);
  }
  const code = await stopped.ended;
  if (code !== 0) throw new Error(`a stop ended with ${code}:\n${stopped.output()}`);
  await stage.start(at);
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  'kill node': {
    share: 5,
    what: 'kill -9 of the process that started PostgreSQL; the next one adopts the server',
    async strike(stage) {
      await stage.kill(0);
      await stage.start(0);
    },
  },
  'kill one of three': {
    share: 4,
    what: 'kill -9 of one of three processes on one database',
    async strike(stage, random) {
      const at = 1 + Math.floor(random() * (stage.processes.length - 1));
      await stage.kill(at);
      await stage.start(at);
    },
  },
  'kill postmaster': {
    share: 20,
    what: 'kill -9 of PostgreSQL',
    async strike(stage) {
      await killServer(stage, await stage.postmaster());
    },
  },
  'kill backend': {
    share: 28,
    what: 'kill -9 of one session of PostgreSQL, after which the server restarts all of them',
    async strike(stage, random) {
      await killServer(stage, pick(await stage.sessions(), random));
    },
  },
  'kill both': {
    share: 3,
    what: 'kill -9 of PostgreSQL and of the process that started it, at once',
    async strike(stage) {
      signal(await stage.postmaster(), 'SIGKILL');
      await stage.kill(0);
      await stage.start(0);
    },
  },
  restart: {
    share: 2,
    what: 'a clean stop and start of one process; PostgreSQL stops with the first process',
    strike: (stage, random) => restart(stage, anyOf(stage, random), 1),
  },
  'stalled clients and stop': {
    share: 2,
    what: 'a stop while clients stall in the middle of their requests; a second signal disconnects them',
    async strike(stage, random) {
      const at = anyOf(stage, random);
      const url = stage.processes[at]?.url as string;
      const request = postText('/intake/scouting', { observed_at: '2026-03-01T08:15:00Z' });
      const stalled = await Promise.all([1, 2, 3].map(() => beginRequest(url, request)));
      await restart(stage, at, 2);
      for (const { close } of stalled) close();
    },
  },
  'pause node': {
    share: 10,
    what: 'a short pause of a process (SIGSTOP, SIGCONT)',
    strike: (stage, random) => pause(stage.processes[anyOf(stage, random)]?.child.pid, random),
  },
  'pause backend': {
    share: 10,
    what: 'a short pause of a PostgreSQL session',
    strike: async (stage, random) => pause(pick(await stage.sessions(), random), random),
  },
  'black hole': {
    share: 11,
    what: 'the network to the database drops everything for a moment',
    async strike({ relay }, random) {
      relay.blackHole();
      await lasts(random).finally(relay.heal);
    },
  },
  failover: {
    share: 1,
    what: 'every open connection to the database is silently dead; new ones work',
    async strike({ relay }) {
      relay.failOver();
    },
  },
  'disk full': {
    share: 4,
    what: 'the disk of PostgreSQL and the files is completely full for a moment',
    ownDisk: true,
    async strike({ folder }, random) {
      const free = await fillDisk(folder);
      await lasts(random).finally(free);
    },
  },
};
