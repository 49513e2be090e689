import type pg from 'pg';

/** A position in the write-ahead log as PostgreSQL writes it, such as 16/B374D848 (pg_lsn). */
export const WAL_POSITION_PATTERN = '^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$';

/**
 * Positions as numbers, which can be compared; the texts cannot, because they are not padded.
 *
 * @param text matches WAL_POSITION_PATTERN
 */
export function parseWalPosition(text: string): bigint {
  const [high = '', low = ''] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function walPositionText(position: bigint): string {
  const hex = (part: bigint) => part.toString(16).toUpperCase();
  return `${hex(position >> 32n)}/${hex(position & 0xffff_ffffn)}`;
}

/**
 * A position at or after everything that was committed before this statement began. What is flushed ends at or after
 * each acknowledged commit and is sent to standbys at once. Without synchronous_commit a commit is acknowledged before
 * it is flushed; then only the position of the next insertion is certain to be after it.
 */
export const COMMITTED_POSITION: pg.QueryConfig = {
  name: 'committed_position',
  text: `SELECT CASE current_setting('synchronous_commit') WHEN 'off'
    THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END::text AS position`,
};

/** The position in the result of COMMITTED_POSITION. */
export function positionIn({ rows }: pg.QueryResult): bigint {
  return parseWalPosition((rows[0] as { position: string }).position);
}
