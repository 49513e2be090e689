import { closeThreads, findBeginOf1 } from '../packet-service/maintenance/closing/close-threads.ts';
import type { Connection } from '../platform/database/database.ts';
import { SettingsError } from '../platform/settings/settings.ts';
import { parseTimestamp } from '../platform/time.ts';

/**
 * Closes older threads to requests without a token.
 *
 * @param before `1.0`, for the upgrade of this database to it, or a time
 * @returns what was done, in words
 * @throws SettingsError for another text; Problem
 */
export async function closeOldThreads(owner: Connection, before: string): Promise<string> {
  const at = before === '1.0' ? await findBeginOf1(owner) : readTime(before);
  const count = await closeThreads(owner, at);
  const threads = count === 1 ? '1 thread' : `${count.toLocaleString('en')} threads`;
  const restart =
    count > 0
      ? '; restart running services, which cache open threads, then run this again to close threads that they stored in the meantime'
      : '';
  return `closed ${threads} started before ${at.toISOString()} to requests without a token${restart}`;
}

function readTime(text: string): Date {
  const time = parseTimestamp(text);
  if (!time) throw new SettingsError('--before must be 1.0, or a time such as 2026-03-01T08:15:00Z');
  return new Date(time.utc);
}
