import type { Run } from '../platform/runs/runs.ts';
import { error, type Finding, inTime, ok, warning } from './finding.ts';

const DAY_MS = 24 * 3600_000;

/** The processes on this DATA_DIR, and those that were killed in the last 24 hours. */
export function checkRuns({ running, killed }: { running: Run[]; killed: Run[] }, now: Date): Finding[] {
  const dead = killed.filter(({ found }) => found === undefined);
  const findings: Finding[] = dead.map(run => {
    const message = `process ${run.pid}, started ${inTime(age(run.began, now))} ago, died without stopping`;
    return error(
      'processes',
      message,
      'start it again; look for kills by the kernel (out of memory), and in its log',
    );
  });
  const recent = killed.filter(({ found }) => found !== undefined && age(found, now) * 1000 < DAY_MS);
  const last = recent.at(-1);
  if (last) {
    const message = `${recent.length} processes were killed or crashed in the last 24 hours, most recently process ${last.pid}`;
    findings.push(
      warning('processes', message, 'look for kills by the kernel (out of memory), and in its log'),
    );
  }
  if (findings.length > 0) return findings;
  const pids = running.map(({ pid }) => pid).join(', ');
  return [
    ok('processes', pids ? `running: ${pids}` : 'no process runs on this DATA_DIR, and none was killed'),
  ];
}

function age(at: string, now: Date): number {
  return (now.getTime() - Date.parse(at)) / 1000;
}
