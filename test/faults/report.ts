import { cpus, loadavg, totalmem } from 'node:os';
import { joinFindings } from './checks.ts';
import type { Campaign, Outcome, Row } from './run.ts';

/** A run as docs/reliability.md tells it; nothing in it is written by hand. */
export function reportOf(
  outcome: Outcome,
  { campaign: { faults }, count, seed }: { campaign: Campaign; count: number; seed: number },
): string {
  const rows = Object.entries(outcome.rows);
  const all = rows.map(([, row]) => row);
  const struck = all.reduce((sum, row) => sum + row.faults, 0);
  const [cpu] = cpus();
  const unexpected = all.flatMap(({ seen }) => seen.unexpected);
  const wrong = joinFindings(outcome.findings, ...all.map(({ findings }) => findings));
  const writes = Object.values(outcome.endpoints).reduce((sum, count) => sum + count, 0);
  return `# Reliability

What faults did to acknowledged writes. This page is written by \`npm run faults -- --report docs/reliability.md\`; nothing
in it is edited.

Three processes on one database take writes at every endpoint that writes, repeated by key, while one fault after the
other strikes. After each fault every process must take a write again, and whatever was acknowledged since the last one
is looked for: each record once and in the state that was acknowledged last, a packet with its hash and one place in the
log, a file with its bytes. At the end everything is looked through again, for what is lost, doubled or changed, for gaps
in the log, and for mails that were promised and did not come. Disks are filled under a process of its own. Kills are
those of processes, not of the machine's power. What faults did on a cluster of Citus is in
[scale-out.md](scale-out.md#measured).

| | |
|---|---|
| date | ${new Date().toISOString().slice(0, 10)} |
| machine | ${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}; load average of its last 15 minutes: ${loadavg()[2]?.toFixed(1)} |
| faults | ${struck} of ${count} asked for, seed ${seed}, in ${outcome.minutes.toFixed(0)} minutes${outcome.ended ? ` (${outcome.ended})` : ''} |
| acknowledged | ${writes} writes of ${outcome.records} records, ${outcome.mails} mails |
| **lost** | **${wrong.lost.length}** |
| **doubled** | **${wrong.doubled.length}** |
| **changed** | **${wrong.changed.length}** |
| other than success or 503 with Retry-After | ${unexpected.length} |

| fault | struck | acknowledged | 503 | broken connections | lost | doubled | changed | seconds to serve again: median | p95 | worst |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.map(([name, row]) => line(name, row)).join('\n')}

Seconds are from the blow until all processes have taken a write again. They include the time that the fault lasts (a
fifth of a second to one for pauses, black holes and full disks) and, where a process was ended, its start.

${rows
  .filter(([name]) => name in faults)
  .map(([name]) => `- **${name}**: ${faults[name]?.what}.`)
  .join('\n')}

| endpoint | acknowledged |
|---|---|
${Object.entries(outcome.endpoints)
  .map(([endpoint, count]) => `| \`${endpoint}\` | ${count} |`)
  .join('\n')}
${listOf('Lost', wrong.lost)}${listOf('Doubled', wrong.doubled)}${listOf('Changed', wrong.changed)}${listOf(
  'Other than success or 503',
  unexpected,
)}`;
}

function line(name: string, { faults, seen, findings, seconds }: Row): string {
  const sorted = seconds.toSorted((a, b) => a - b);
  const times = [sorted[sorted.length >> 1], sorted[Math.ceil(sorted.length * 0.95) - 1], sorted.at(-1)];
  const { lost, doubled, changed } = findings;
  const counts = [faults, seen.acknowledged, seen.refused, seen.broken];
  const wrong = [lost.length, doubled.length, changed.length];
  return `| ${[name, ...counts, ...wrong, ...times.map(time => time?.toFixed(1) ?? '')].join(' | ')} |`;
}

function listOf(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const shown = items.slice(0, 100).map(item => `- ${item}`);
  return `\n## ${title}\n\n${shown.join('\n')}\n`;
}
