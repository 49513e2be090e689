import { Problem } from '../../../platform/http/problems.ts';

/** A position in the log with the tag of its entry. */
export interface LogCursor {
  /** 0 is before the first entry */
  position: number;
  /**
   * 32 random bits of the round that appended the entry, the same for all its entries; null at 0, and for entries of
   * older versions.
   */
  tag: number | null;
}

/** The cursor before the first entry. */
export const LOG_START: LogCursor = { position: 0, tag: null };

/** The text form for clients: at most 15 digits, which a double represents exactly, and the tag in hex. */
export const LOG_CURSOR_PATTERN = '^[0-9]{1,15}([.][0-9a-f]{8})?$';

/**
 * @param text matches LOG_CURSOR_PATTERN
 */
export function parseLogCursor(text: string): LogCursor {
  const [position, tag] = text.split('.');
  return { position: Number(position), tag: tag === undefined ? null : Number.parseInt(tag, 16) | 0 };
}

export function logCursorText({ position, tag }: LogCursor): string {
  return tag === null ? `${position}` : `${position}.${(tag >>> 0).toString(16).padStart(8, '0')}`;
}

/**
 * Checks that a client's cursor is of this log. After a restored backup, or a failover to a server that lacked the
 * last commits, positions are assigned again to other entries: a client that continued from such a position would
 * miss entries.
 *
 * @param field the field's name, for the error
 * @param stored the cursor at that position in the log; undefined beyond the end
 * @throws Problem conflict
 */
export function checkLogCursor(field: string, kept: LogCursor, stored: LogCursor | undefined): void {
  if (stored?.tag === kept.tag) return;
  throw new Problem('log.other', { field });
}
