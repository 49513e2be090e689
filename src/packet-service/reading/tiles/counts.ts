import type pg from 'pg';
import { cellIndex, FINE_LEVEL, leafCell } from '../../../geometry/cells.ts';
import type { Bounds } from '../../../geometry/covers.ts';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { lockRegistration } from '../../core/geoids/store.ts';
import { listBounds } from '../../core/geoids/tile-store.ts';
import { findPositionOf, readObservationIds } from '../../core/log/read-store.ts';
import { findLocations } from '../../core/packets/tile-store.ts';
import { middleOf } from './mercator.ts';
import {
  addLocations,
  type CountedField,
  changeState,
  deleteCountedField,
  findCounted,
  insertCountedFields,
  lockCounting,
  removeLocations,
  setCounted,
  tryLockCounting,
} from './store.ts';

/** Entries of the log that are counted in one transaction. */
const ROUND = 2000;
/** Fields of an older version that are counted in one transaction. */
const FIELDS = 1000;

/** The result of a round of counting. */
export interface CountingRound {
  /** up to which position observations are counted */
  position: number;
  /** whether another process was counting, so that this one did not */
  busy: boolean;
}

/**
 * Counts the observations of the next entries of the log. The position is stored in the same transaction as the counts,
 * and processes take turns, so that each observation is counted once, whatever is killed.
 */
export function countObservations(pool: pg.Pool): Promise<CountingRound> {
  return transaction(pool, async database => {
    const free = await tryLockCounting(database);
    const after = await findCounted(database);
    if (!free) return { position: after, busy: true };
    const read = await readObservationIds(database, { after, upTo: after + ROUND });
    if (!read) return { position: after, busy: false };
    const locations = read.ids === null ? undefined : await findLocations(database, read.ids);
    if (locations) await addLocations(database, 'observations', locations);
    await setCounted(database, read.position);
    return { position: read.position, busy: false };
  });
}

/**
 * Takes an observation off the counts, in the transaction that erases it and before its location is removed. One that is
 * not counted yet is left alone: it has no location when its turn comes. Shared reads of tiles are void either way.
 *
 * @param packetId uuid form
 */
export async function uncountObservation(database: Database, packetId: string): Promise<void> {
  await lockCounting(database);
  await changeState(database);
  const position = await findPositionOf(database, packetId);
  if (position === undefined || position > (await findCounted(database))) return;
  const locations = await findLocations(database, `{${packetId}}`);
  if (locations) await removeLocations(database, 'observations', locations);
}

/** Counts fields in the transaction that registers them; those that are counted already are left alone. */
export async function countFields(
  database: Database,
  fields: readonly { geoid: string; bounds: Bounds }[],
): Promise<void> {
  if (fields.length === 0) return;
  const added = await insertCountedFields(
    database,
    fields.map(({ geoid, bounds }) => {
      const { x, y, lat, lon } = middleOf(bounds);
      return { geoid, x, y, cell: cellIndex(leafCell(lat, lon), FINE_LEVEL) };
    }),
  );
  if (added.length > 0) await addLocations(database, 'fields', locationsOf(added));
}

/** Takes a field off the counts in the transaction that deletes it. */
export async function uncountField(database: Database, geoid: string): Promise<void> {
  const field = await deleteCountedField(database, geoid);
  if (field) await removeLocations(database, 'fields', locationsOf([field]));
}

/** Counts the next fields by GeoID that a version without maps registered; returns the last one, if more may follow. */
export async function countOlderFields(
  pool: pg.Pool,
  after: string | undefined,
): Promise<string | undefined> {
  return transaction(pool, async database => {
    await lockRegistration(database);
    const fields = await listBounds(database, after, FIELDS);
    await countFields(database, fields);
    return fields.length === FIELDS ? fields.at(-1)?.geoid : undefined;
  });
}

function locationsOf(fields: readonly CountedField[]) {
  return {
    singles: fields.map(({ geoid }) => geoid),
    xs: fields.map(({ x }) => x),
    ys: fields.map(({ y }) => y),
    cells: fields.map(({ cell }) => cell),
  };
}
