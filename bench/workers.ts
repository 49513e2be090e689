import { readdirSync, readFileSync } from 'node:fs';
import { type Context, type Measured, median, type Row } from './context.ts';
import type { LoadResult } from './load.ts';
import { fillPackets } from './packet-fill.ts';
import { someIds } from './packets.ts';

const CLIENTS = 32;
const WORKERS = [1, 2, 3];
const ROUNDS = 3;
const FILLED = 50_000;
/** Clock ticks of /proc, each second: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, USER_HZ. */
const TICKS = 100;

/** Processor time of a request, with one process and with several under a supervisor, in turns. */
export async function workerRows(context: Context): Promise<Row[]> {
  await fillPackets(context, 0, FILLED);
  const ids = await someIds(context);
  const requests = {
    'a packet stored': { requests: './requests/scouting.ts', options: null },
    'a read by id': { requests: './requests/read.ts', options: { paths: ids.map(id => `/packets/${id}`) } },
    'a page of 100': {
      requests: './requests/read.ts',
      options: { paths: ids.slice(0, 200).map(id => `/packets?limit=100&cursor=${id}`) },
    },
  };
  const services: Measured[] = [];
  for (const count of WORKERS) services.push(await context.startService({ WORKERS: String(count) }));
  const rows: Row[] = [];
  for (const [name, request] of Object.entries(requests)) {
    const load = (port: number, seconds = context.seconds) =>
      context.load({ port, connections: CLIENTS, seconds, ...request });
    for (const { port } of services) await load(port, 2);
    const rounds = WORKERS.map(() => [] as Cost[]);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [at, service] of services.entries()) {
        rounds[at]?.push(await costOf(service, () => load(service.port)));
      }
    }
    for (const [at, costs] of rounds.entries()) {
      const alone = median(rounds[0]?.map(({ services: own }) => own) ?? []);
      const own = median(costs.map(cost => cost.services));
      rows.push({
        name: `processor time of ${name}, WORKERS=${WORKERS[at]}`,
        value: own,
        unit: 'µs',
        ...(at > 0 && { against: { name: 'one process', ratio: own / alone } }),
        note: `${Math.round(median(costs.map(cost => cost.perSecond))).toLocaleString('en')} a second`,
      });
    }
  }
  for (const service of services) await service.stop();
  return rows;
}

interface Cost {
  /** microseconds of the services' processes for a request */
  services: number;
  perSecond: number;
}

async function costOf({ pid }: Measured, load: () => Promise<LoadResult>): Promise<Cost> {
  const before = secondsOf(pid);
  const { answers, perSecond } = await load();
  return { services: ((secondsOf(pid) - before) / answers) * 1e6, perSecond };
}

/** Processor time of a process and all those that it has started, in seconds. */
function secondsOf(pid: number): number {
  let ticks = 0;
  const tree = new Set([pid]);
  // Processes are numbered upwards: parents mostly come before their children, and a second look finds the others.
  for (let before = 0; before !== tree.size; ) {
    before = tree.size;
    for (const { pid, parent } of processes()) if (tree.has(parent)) tree.add(pid);
  }
  for (const child of processes()) if (tree.has(child.pid)) ticks += child.ticks;
  return ticks / TICKS;
}

function processes(): { pid: number; parent: number; ticks: number }[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, 'utf8');
        const fields = text
          .slice(text.lastIndexOf(')') + 2)
          .split(' ')
          .map(Number);
        return [
          {
            pid: Number(name),
            parent: fields[1] as number,
            ticks: (fields[11] as number) + (fields[12] as number),
          },
        ];
      } catch {
        // Ended in between.
        return [];
      }
    });
}
