import { parse } from 'csv-parse/sync';
import { Problem } from '../../../platform/http/problems.ts';

/** Indexes of the columns that do not come out of the texts of a packet. */
export const LAT = 4;
export const LON = 5;
export const AUTHOR = 6;
/** The columns of every packet, whatever its type. */
const OWN_COLUMNS = ['id', 'geoid', 'type', 'timestamp', 'lat', 'lon', 'author'];

/** The columns that every table has, in their order: those of every packet, then what the types of packets declare. */
export const DECLARED_COLUMNS = [
  ...OWN_COLUMNS,
  'prev',
  'message',
  'text',
  'thread_id',
  'from_user',
  'geoids',
  'attachments',
];
const DECLARED = new Set(DECLARED_COLUMNS);

/** Maximum columns in addition to the declared ones. */
export const MAX_COLUMNS = 1000;
/** Maximum characters of a column's name. */
export const MAX_NAME = 256;

/**
 * The column of a member of the Header. What a Header may have beyond the declared columns keeps apart from the Body's
 * fields, except `tenant`, which the service copies from there.
 */
export function nameInHeader(key: string): string {
  return DECLARED.has(key) || key === 'tenant' ? key : `header.${key}`;
}

/** The column of a member of the Body: its name, unless the packet itself has such a column. */
export function nameInBody(key: string): string {
  return key === '' || OWN_COLUMNS.includes(key) ? `body.${key}` : key;
}

/** Like `nameInBody`, for a table with columns of names: a member with the name of one of them gets a prefix. */
export function nameInBodyWith(names: readonly string[]): (key: string) => string {
  if (names.length === 0) return nameInBody;
  return key => (names.includes(key) ? `body.${key}` : nameInBody(key));
}

/** The Body's members that the columns lat and lon contain, of packets that have them. */
export const CAPTURE_POINT = ['capture_point.lat', 'capture_point.lon'];

/**
 * Reads `columns=`: names separated by commas, as in the first line of a CSV file, so that a name which contains a comma
 * or a quote is quoted.
 *
 * @param others further columns of the table
 * @returns names in addition to the declared columns; undefined without the parameter
 * @throws Problem invalid
 */
export function readColumns(text: string | undefined, others: readonly string[] = []): string[] | undefined {
  if (!text) return undefined;
  const names = new Set(namesIn(text));
  for (const name of [...DECLARED_COLUMNS, ...others]) names.delete(name);
  checkCount(names.size);
  for (const name of names) {
    if (name === '') throw new Problem('table.empty_column_name', { field: 'columns' });
    checkLength(name);
  }
  return [...names];
}

function namesIn(text: string): string[] {
  try {
    const records: string[][] = parse(text);
    if (records.length === 1) return records[0] as string[];
  } catch {
    // The same answer as for several lines.
  }
  throw new Problem('table.malformed_columns', { field: 'columns' });
}

/** @throws Problem invalid */
function checkCount(count: number): void {
  if (count <= MAX_COLUMNS) return;
  throw new Problem('table.too_many_columns', { field: 'columns', max: MAX_COLUMNS });
}

/** @throws Problem invalid */
function checkLength(name: string): void {
  if (name.length <= MAX_NAME) return;
  throw new Problem('table.column_name_too_long', {
    field: 'columns',
    name: name.slice(0, 40),
    max: MAX_NAME,
  });
}
