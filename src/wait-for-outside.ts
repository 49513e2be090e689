import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Connection, withSession } from './platform/database/database.ts';
import { mayConnectLater } from './platform/database/troubles.ts';
import { openFileStore } from './platform/files/index.ts';
import { isStoreAway, readStoreId } from './platform/files/store-id.ts';
import { toProblem } from './platform/http/failures.ts';
import { Problem } from './platform/http/problems.ts';
import { type Settings, SettingsError } from './platform/settings/settings.ts';
import { BUCKET_RULES } from './platform/settings/types.ts';
import { type Absence, openWaitingRoom } from './waiting-room.ts';

/** Pause before the second attempt, in milliseconds; it doubles up to the longest one. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/**
 * Waits until the database and the file store of the settings can be reached: after a power cut, this process may be the
 * first that runs. Meanwhile the ports of the services answer 503. An embedded server is started instead.
 *
 * @throws SettingsError with the setting of a port that cannot be used; what is wrong with the settings of the database
 *   or the file store, at once
 */
export async function waitForOutside(
  settings: Settings,
  connection: Connection,
  logger: Logger,
): Promise<void> {
  const files = openFileStore(settings);
  let absence: Absence | undefined;
  let close: (() => Promise<void>) | undefined;
  try {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        if (settings.DATABASE_URL) await withSession(connection, async () => {});
        if (settings.S3_BUCKET) await readStoreId(files);
        return;
      } catch (error) {
        absence = absenceOf(error);
        if (!absence) throw explained(error, files.location);
        // Only the first one is logged, and then one a minute.
        logger.error({ err: error }, 'the start is waiting for an external system');
      }
      close ??= await openWaitingRoom(settings, () => absence as Absence);
      await wait(pause);
    }
  } finally {
    await close?.();
  }
}

/** The missing system, judging by the error; undefined if waiting does not help. */
function absenceOf(error: unknown): Absence | undefined {
  const problem = toProblem(error);
  if (mayConnectLater(error)) return { status: 'DATABASE_UNREACHABLE', problem };
  return isStoreAway(error) ? { status: 'FILES_UNREACHABLE', problem } : undefined;
}

/** Why a file store refuses, in a sentence; errors of the database are returned as they are. */
function explained(error: unknown, location: string): unknown {
  if (!(error instanceof Problem)) return error;
  const { name, message } = error.cause as Error;
  const rules = name === 'InvalidBucketName' ? `; ${BUCKET_RULES}` : '';
  return new SettingsError(`S3_BUCKET: ${location} cannot be read: ${[name, message].join(': ')}${rules}`);
}
