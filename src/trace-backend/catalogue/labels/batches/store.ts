import sql, { type Sql } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import type { Page } from '../../../base/contract/schemas.ts';
import type { Lists } from '../../../base/lists/lists.ts';
import * as records from '../../../base/records/store.ts';
import type { BatchLocation, SORTABLE } from './schemas.ts';

/** A batch of the goods that a label is printed on. */
export interface Batch {
  id: number;
  labelId: number;
  /** unique among the batches of its label; case is ignored, but older batches may differ only in case */
  number: string;
  /** YYYY-MM-DD */
  productionDate: string | null;
  expiryDate: string | null;
  locations: BatchLocation[];
  /** storage key of an image */
  photo: string | null;
  /** whether everyone may check a package's number and dates against this batch */
  checkAuthenticity: boolean | null;
  /** whether everyone may see its locations */
  traceOrigin: boolean | null;
  /** counts its changes */
  version: number;
}

const TABLE: records.RecordTable = {
  name: 'label_batches',
  columns: {
    labelId: 'label_id',
    number: 'number',
    productionDate: { column: 'production_date', select: "to_char(production_date, 'YYYY-MM-DD')" },
    expiryDate: { column: 'expiry_date', select: "to_char(expiry_date, 'YYYY-MM-DD')" },
    locations: { column: 'locations', isJson: true },
    photo: 'photo',
    checkAuthenticity: 'check_authenticity',
    traceOrigin: 'trace_origin',
  },
};

export const findBatch = (database: Database, id: number) => records.findRow<Batch>(database, TABLE, id);
/** Stores a batch; the transaction holds the row lock of the label's product. */
export const insertBatch = (database: Database, batch: Omit<Batch, 'id' | 'version'>, at: Date) =>
  records.insertRow(database, TABLE, batch, at);
export const updateBatch = (database: Database, batch: Batch, at: Date) =>
  records.updateRow(database, TABLE, batch, at);
export const touchBatch = (database: Database, id: number) => records.nextVersion(database, TABLE, id);
export const deleteBatch = (database: Database, id: number) => records.deleteRow(database, TABLE, id);

/**
 * The batch of a label with this number; case is ignored. If numbers of older batches differ only in case, an exact
 * match wins, otherwise the first batch.
 *
 * @param exceptId id of a batch to ignore
 */
export async function findBatchByNumber(
  database: Database,
  labelId: number,
  number: string,
  exceptId?: number,
): Promise<Batch | undefined> {
  const { rows } = await database.query<Batch>(sql`
    SELECT ${records.selected(TABLE)} FROM label_batches
    WHERE label_id = ${labelId} AND lower(number) = lower(${number})
      AND id IS DISTINCT FROM ${exceptId ?? null}::integer
    ORDER BY number = ${number} DESC, id LIMIT 1`);
  return rows[0];
}

/** The number of batches of a label, and how many of them can be checked and traced. */
interface BatchCounts {
  numberOfBatches: number;
  checkAuthenticityCount: number;
  traceOriginCount: number;
}

/** The query for the numbers of a label's batches. */
export const selectBatchCounts = (labelId: Sql) => sql`
  SELECT count(*)::int AS "numberOfBatches", (count(*) FILTER (WHERE check_authenticity))::int
    AS "checkAuthenticityCount", (count(*) FILTER (WHERE trace_origin))::int AS "traceOriginCount"
  FROM label_batches WHERE label_id = ${labelId}`;

export async function countBatches(database: Database, labelId: number): Promise<BatchCounts> {
  const { rows } = await database.query<BatchCounts>(selectBatchCounts(sql`${labelId}`));
  return rows[0] as BatchCounts;
}

interface BatchFilter {
  labelId: number;
  /** part of the number */
  number?: string | undefined;
}

const KEYS = { id: 'id', number: 'number', productionDate: 'production_date', expiryDate: 'expiry_date' };

/** A page of a label's batches, and their total number. */
export async function listBatches(
  database: Database,
  lists: Lists,
  filter: BatchFilter,
  page: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: Batch[]; count: number }> {
  const { labelId, number } = filter;
  const part = number === undefined ? sql`true` : sql`strpos(lower(number), lower(${number})) > 0`;
  const where = sql`label_id = ${labelId} AND ${part}`;
  return records.listRows<Batch>(database, lists, TABLE, page, { filter, where, key: KEYS[page.sortBy] });
}

/** The ids of all batches of these labels. */
export async function findBatchIds(database: Database, labelIds: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT id FROM label_batches WHERE label_id = ANY (${labelIds}::integer[])`);
  return rows.map(({ id }) => id);
}

/** The labels of these batches. */
export async function findLabelIds(database: Database, ids: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT label_id AS id FROM label_batches WHERE id = ANY (${ids}::integer[])`);
  return rows.map(({ id }) => id);
}
