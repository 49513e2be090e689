import { fieldRanges, readRanges } from '../../core/packets/copy-rows.ts';
import {
  AUTHOR,
  CAPTURE_POINT,
  DECLARED_COLUMNS,
  LAT,
  LON,
  MAX_COLUMNS,
  MAX_NAME,
  nameInBodyWith,
  nameInHeader,
} from './columns.ts';
import { idFieldOf, type NameColumn, type NamedRows } from './names.ts';
import { fieldScanner, rootField } from './scan.ts';

/** Fields of a row of the COPY: header, body, author, latitude and longitude as text. */
const TABLE_FIELDS = 5;
/** Fields of a row, which has the GeoID, too, if names are looked up. */
export const fieldsWith = (names: readonly NameColumn[]) => TABLE_FIELDS + (names.length > 0 ? 1 : 0);
/** The columns of fields that are not texts of the packet. */
const COLUMN_OF_FIELD = [-1, -1, AUTHOR, LAT, LON];

/** The values of a row of a table. */
export interface Cells {
  /** the bytes that the ranges are of */
  bytes: Buffer;
  /** by column: where its value begins, as JSON, but for the author, who is plain text; -1 without a value */
  starts: Int32Array;
  ends: Int32Array;
  /** bytes of all its values, at most */
  length: number;
}

/**
 * Reads rows into the cells of a table.
 *
 * @param columns all columns of the table, the declared ones first
 * @param names those of them that are looked up
 * @returns a function that calls `onCells` with every row; the cells are valid during the call
 */
export function cellReader(
  columns: readonly string[],
  names: readonly NameColumn[] = [],
): (rows: Buffer, onCells: (cells: Cells) => void, named?: NamedRows) => void {
  const indexes = new Map(columns.map((name, index) => [name, index]));
  const prefixes = new Set(columns.flatMap(prefixesOf));
  const { starts, ends } = fieldRanges(columns.length);
  const cells: Cells = { bytes: Buffer.alloc(0), starts, ends, length: 0 };
  const scan = fieldScanner(
    name => ({ column: indexes.get(name) ?? -1, hasInner: prefixes.has(name) }),
    ({ column }, start, end) => {
      starts[column] = start;
      ends[column] = end;
    },
  );
  const header = rootField(nameInHeader);
  const body = rootField(nameInBodyWith(names));
  const ranges = fieldRanges(fieldsWith(names));
  /** Puts the names of a row into its cells. */
  const addNames = (named: NamedRows) => {
    for (const name of names) {
      const field = idFieldOf(name);
      const start = ranges.starts[field] as number;
      const range =
        start < 0 ? undefined : named.rangeOf(name, cells.bytes.subarray(start, ranges.ends[field]));
      if (!range) continue;
      const column = indexes.get(name) as number;
      starts[column] = range.start;
      ends[column] = range.end;
      cells.length += range.end - range.start;
    }
  };

  return (rows, onCells, named) => {
    cells.bytes = named?.bytes ?? rows;
    for (let at = 0; at < rows.length; ) {
      const end = readRanges(rows, at, ranges);
      starts.fill(-1);
      // If both have a field, the Header's wins: it is read last.
      scan(rows, ranges.starts[1] as number, body);
      scan(rows, ranges.starts[0] as number, header);
      for (let field = 2; field < TABLE_FIELDS; field++) {
        const column = COLUMN_OF_FIELD[field] as number;
        starts[column] = ranges.starts[field] as number;
        ends[column] = ranges.ends[field] as number;
      }
      cells.length = end - at;
      if (named) addNames(named);
      onCells(cells);
      at = end;
    }
  };
}

/** Every beginning of a name that ends before a dot. */
function prefixesOf(name: string): string[] {
  const prefixes: string[] = [];
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    prefixes.push(name.slice(0, dot));
  }
  return prefixes;
}

/** Maximum fields whose packets are counted: bounds the memory of the first reading. */
const MAX_COUNTED = 20 * MAX_COLUMNS;

/** The columns in addition to the declared ones that packets have values in. */
export interface FoundColumns {
  /** sorted by name */
  columns: string[];
  /** fields that have no column, about */
  leftOut: number;
}

/**
 * Finds the columns in addition to the declared ones. If there are too many, the fields of the most packets get them: a packet
 * with a thousand fields of its own must not take the columns of the others away. Fields with too long a name get none.
 *
 * @param names columns of the table that are looked up
 * @returns a function that reads rows, and one that returns what was found
 */
export function columnFinder(names: readonly NameColumn[] = []): {
  read: (rows: Buffer) => void;
  foundColumns: () => FoundColumns;
} {
  /** how many packets have a field, by its index */
  const counts: number[] = [];
  const indexes = new Map<string, number>();
  let uncounted = 0;
  function indexOf(name: string): number {
    const known = indexes.get(name);
    if (known !== undefined) return known;
    if (name.length > MAX_NAME || counts.length === MAX_COUNTED) {
      uncounted++;
      return -1;
    }
    indexes.set(name, counts.length);
    return counts.push(0) - 1;
  }

  let isLocated = false;
  const scan = fieldScanner(
    name => ({ column: DECLARED_COLUMNS.includes(name) ? -1 : indexOf(name), hasInner: true }),
    ({ name, column }) => {
      if (isLocated && CAPTURE_POINT.includes(name)) return;
      counts[column] = (counts[column] as number) + 1;
    },
  );
  const header = rootField(nameInHeader);
  const body = rootField(nameInBodyWith(names));
  const ranges = fieldRanges(fieldsWith(names));
  const read = (rows: Buffer) => {
    for (let at = 0; at < rows.length; ) {
      at = readRanges(rows, at, ranges);
      isLocated = (ranges.starts[3] as number) >= 0;
      scan(rows, ranges.starts[0] as number, header);
      scan(rows, ranges.starts[1] as number, body);
    }
  };
  const foundColumns = () => {
    const used = [...indexes].filter(([, index]) => (counts[index] as number) > 0);
    const frequent = used.sort(([, a], [, b]) => (counts[b] as number) - (counts[a] as number));
    const columns = frequent.slice(0, MAX_COLUMNS).map(([name]) => name);
    return { columns: columns.sort(), leftOut: used.length - columns.length + uncounted };
  };
  return { read, foundColumns };
}
