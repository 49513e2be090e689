import { Problem } from '../../platform/http/problems.ts';

/** A place in the log. */
export interface LogCursor {
  /** 0 is before the first entry */
  position: number;
  /**
   * 32 bits of the round that appended the entry there, the same for all its entries; null at 0, and for entries that
   * older versions appended.
   */
  tag: number | null;
}

/** Before the first entry. */
export const LOG_START: LogCursor = { position: 0, tag: null };

/** A place as clients keep it: at most 15 digits, which a double holds exactly, and the tag in hex. */
export const LOG_CURSOR_PATTERN = '^[0-9]{1,15}([.][0-9a-f]{8})?$';

/** @param text of LOG_PLACE_PATTERN */
export function parseLogCursor(text: string): LogCursor {
  const [position, tag] = text.split('.');
  return { position: Number(position), tag: tag === undefined ? null : Number.parseInt(tag, 16) | 0 };
}

export function logCursorText({ position, tag }: LogCursor): string {
  return tag === null ? `${position}` : `${position}.${(tag >>> 0).toString(16).padStart(8, '0')}`;
}

/**
 * Makes sure that a place that a client kept is one of this log. After a restored backup, or a failover to a server
 * that lacked the last commits, positions are given once more, to other entries: whoever went on from such a one would
 * miss entries without knowing.
 *
 * @param field what the place was sent as, for the error
 * @param found the place at that position now; undefined beyond the end
 * @throws Problem conflict
 */
export function checkLogCursor(field: string, kept: LogCursor, found: LogCursor | undefined): void {
  if (found?.tag === kept.tag) return;
  throw new Problem(
    'conflict',
    `${field} is of another log than this one, as after a restored backup: start over, without it`,
  );
}
