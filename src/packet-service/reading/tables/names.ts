import { fieldRanges, readRanges } from '../../core/packets/copy-rows.ts';

/** Optional columns of a table, and the field in a row of the COPY that has the id for each. */
const ID_FIELD = { field_name: 5, author_name: 2 };
export type NameColumn = keyof typeof ID_FIELD;
export const NAME_COLUMNS = Object.keys(ID_FIELD) as NameColumn[];

/** Finds what each column is named after: names by their ids. */
export type NameSources = Readonly<
  Record<NameColumn, (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>>
>;

/** Maximum ids that are remembered from piece to piece. */
const MAX_REMEMBERED = 10_000;

/** Rows of the COPY, followed by the names that belong to them. */
export interface NamedRows {
  bytes: Buffer;
  /** where the rows end */
  end: number;
  /** where the name of an id is in the bytes, as JSON; undefined without one */
  rangeOf(column: NameColumn, id: Buffer): { start: number; end: number } | undefined;
}

/** The field of a row with the id that a column names. */
export const idFieldOf = (column: NameColumn): number => ID_FIELD[column];

/**
 * Looks up the names that belong to rows, and appends them: as the values of a row are ranges of bytes, a name is one,
 * too.
 *
 * @param fields of a row
 */
export function nameFinder(
  columns: readonly NameColumn[],
  sources: NameSources,
  fields: number,
): (rows: Buffer) => Promise<NamedRows> {
  const remembered = new Map(columns.map(column => [column, new Map<string, Buffer | undefined>()]));
  return async rows => {
    const ranges = new Map<NameColumn, Map<string, { start: number; end: number }>>();
    const parts = [rows];
    let end = rows.length;
    for (const [column, ids] of idsOf(rows, columns, fields)) {
      const names = remembered.get(column) as Map<string, Buffer | undefined>;
      await remember(names, ids, sources[column]);
      const columnRanges = new Map<string, { start: number; end: number }>();
      ranges.set(column, columnRanges);
      for (const id of ids) {
        const name = names.get(id);
        if (!name) continue;
        parts.push(name);
        columnRanges.set(id, { start: end, end: end + name.length });
        end += name.length;
      }
    }
    return {
      bytes: Buffer.concat(parts),
      end: rows.length,
      rangeOf: (column, id) => ranges.get(column)?.get(id.toString()),
    };
  };
}

/** The ids in rows, each once, by the column that names them. */
function idsOf(rows: Buffer, columns: readonly NameColumn[], fields: number): Map<NameColumn, Set<string>> {
  const idsByColumn = new Map(columns.map(column => [column, new Set<string>()]));
  const ranges = fieldRanges(fields);
  for (let at = 0; at < rows.length; ) {
    at = readRanges(rows, at, ranges);
    for (const [column, ids] of idsByColumn) {
      const start = ranges.starts[ID_FIELD[column]] as number;
      if (start >= 0) ids.add(rows.toString('utf8', start, ranges.ends[ID_FIELD[column]]));
    }
  }
  return idsByColumn;
}

/** Adds what is not known yet. */
async function remember(
  names: Map<string, Buffer | undefined>,
  ids: ReadonlySet<string>,
  find: NameSources[NameColumn],
): Promise<void> {
  if (names.size > MAX_REMEMBERED) names.clear();
  const unknown = [...ids].filter(id => id !== '' && !names.has(id));
  if (unknown.length === 0) return;
  const foundNames = await find(unknown);
  for (const id of unknown) {
    const name = foundNames.get(id);
    names.set(id, name === undefined ? undefined : Buffer.from(JSON.stringify(name)));
  }
}
