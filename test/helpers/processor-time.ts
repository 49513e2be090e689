import { readFileSync } from 'node:fs';

/**
 * Seconds of processor time of this process and of all its descendants that have ended and were waited for. The
 * descendants are counted on Linux alone.
 */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + endedChildren();
}

/** Linux counts in ticks of 10 ms: cutime and cstime of proc(5), the 16th and 17th field. */
function endedChildren(): number {
  if (process.platform !== 'linux') return 0;
  const line = readFileSync('/proc/self/stat', 'utf8');
  // The program's name, the second field, can contain spaces.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
