/** How bad it is: with an error, something does not work or data is at risk. */
export type Level = 'ok' | 'warning' | 'error';

/** A line of `fieldtrace doctor`. */
export interface Finding {
  /** what was looked at */
  check: string;
  level: Level;
  message: string;
  /** what to do; absent if nothing has to be done */
  remedy?: string;
  /** further lines, such as settings */
  details?: readonly string[];
}

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message });

export const warning = (check: string, message: string, remedy: string): Finding => ({
  check,
  level: 'warning',
  message,
  remedy,
});

export const error = (check: string, message: string, remedy: string): Finding => ({
  check,
  level: 'error',
  message,
  remedy,
});

/** Characters of the longest level, and of the names of checks. */
const WIDTH = { level: 8, check: 14 };

/** Findings as lines for a terminal, with the counts at the end. */
export function inLines(findings: readonly Finding[]): string {
  const indent = ' '.repeat(WIDTH.level + WIDTH.check + 2);
  const lines = findings.flatMap(({ check, level, message, remedy, details = [] }) => [
    `${level.padEnd(WIDTH.level)} ${check.padEnd(WIDTH.check)} ${message}`,
    ...details.map(line => indent + line),
    ...(remedy === undefined ? [] : [`${indent}→ ${remedy}`]),
  ]);
  const counted = (level: Level) => {
    const count = findings.filter(finding => finding.level === level).length;
    return `${count} ${level}${count === 1 ? '' : 's'}`;
  };
  return [...lines, '', `${counted('error')}, ${counted('warning')}`].join('\n');
}

/** A number of bytes for people. */
export function inBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(bytes, 1)) / 10)));
  return at === 0 ? `${bytes} bytes` : `${(bytes / 1024 ** at).toFixed(1)} ${units[at]}`;
}

/** A length of time for people. */
export function inTime(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 2) return `${Math.max(0, Math.floor(seconds))} s`;
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`;
}
