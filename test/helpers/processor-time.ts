import { readdirSync, readFileSync } from 'node:fs';

/**
 * Seconds of processor time of this process and of its descendants: those that run, and those that have ended and were
 * waited for. Descendants are counted on Linux alone.
 */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1e6;
  if (process.platform !== 'linux') return own;
  return own + ticksOf(process.pid).children / TICKS_PER_SECOND + runningDescendants(process.pid);
}

/** Seconds of processor time of a process and of its descendants; 0 where it is not counted (not on Linux). */
export function processorSecondsOf(process: number): number {
  const { own, children } = ticksOf(process);
  return (own + children) / TICKS_PER_SECOND + runningDescendants(process);
}

/** Linux counts in ticks of 10 ms. */
const TICKS_PER_SECOND = 100;

function runningDescendants(parent: number): number {
  return childrenOf(parent)
    .map(processorSecondsOf)
    .reduce((sum, seconds) => sum + seconds, 0);
}

/** utime, stime, cutime and cstime of proc(5), the 14th to 17th field; nothing of a process that has ended. */
function ticksOf(process: number): { own: number; children: number } {
  const line = orNothing(() => readFileSync(`/proc/${process}/stat`, 'utf8'));
  // The program's name, the second field, can contain spaces.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15).map(Number);
  return { own: utime + stime, children: cutime + cstime };
}

/** Each thread of a process has the children that it has started. */
function childrenOf(process: number): number[] {
  const threads = orNothing(() => readdirSync(`/proc/${process}/task`).join(' ')).split(' ');
  return threads
    .flatMap(thread =>
      orNothing(() => readFileSync(`/proc/${process}/task/${thread}/children`, 'utf8')).split(' '),
    )
    .filter(child => child !== '')
    .map(Number);
}

/** Processes end while they are counted. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
