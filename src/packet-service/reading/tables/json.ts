import { AUTHOR, LAT, LON } from './columns.ts';
import { copy, type Output, reserve, writeAscii } from './output.ts';
import type { Cells } from './rows.ts';
import type { RowWriter } from './writer.ts';

const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const LF = 0x0a;

/** Writes NDJSON: an object per line with every column, null where the packet has no value. Arrays stay arrays. */
export function ndjsonWriter(columns: readonly string[]): RowWriter {
  const writeProperties = propertyWriter(columns, { arraysAsText: false });
  return {
    start() {},
    row(output, cells) {
      writeProperties(output, cells);
      reserve(output, 1);
      output.bytes[output.at++] = LF;
    },
    end() {},
  };
}

const FEATURE = '{"type":"Feature","id":';

/**
 * Writes a GeoJSON FeatureCollection (RFC 7946), a Feature per line: at the capture point, or without geometry where
 * the packet has none. Its properties are flat: GIS programs have no others. Arrays are JSON text.
 */
export function geojsonWriter(columns: readonly string[]): RowWriter {
  const writeProperties = propertyWriter(columns, { arraysAsText: true });
  let before = FEATURE;
  return {
    start(output) {
      writeAscii(output, '{"type":"FeatureCollection","features":[\n');
    },
    row(output, cells) {
      const { bytes, starts, ends, length } = cells;
      const [lat, lon] = [starts[LAT] as number, starts[LON] as number];
      reserve(output, 2 * length + 200);
      writeAscii(output, before);
      copy(output, bytes, starts[0] as number, ends[0] as number);
      if (lat < 0 || lon < 0) writeAscii(output, ',"geometry":null,"properties":');
      else {
        writeAscii(output, ',"geometry":{"type":"Point","coordinates":[');
        copy(output, bytes, lon, ends[LON] as number);
        output.bytes[output.at++] = COMMA;
        copy(output, bytes, lat, ends[LAT] as number);
        writeAscii(output, ']},"properties":');
      }
      writeProperties(output, cells);
      reserve(output, 1);
      output.bytes[output.at++] = CLOSE_BRACE;
      before = `,\n${FEATURE}`;
    },
    end(output) {
      reserve(output, 4);
      writeAscii(output, '\n]}\n');
    },
  };
}

const NULL = Buffer.from('null');

/** Writes the columns of a row as the members of an object. */
function propertyWriter(
  columns: readonly string[],
  { arraysAsText }: { arraysAsText: boolean },
): (output: Output, cells: Cells) => void {
  const names = columns.map((name, index) =>
    Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
  );
  const namesLength = names.reduce((sum, { length }) => sum + length, 0);
  return (output, { bytes, starts, ends, length }) => {
    // At most, every byte belongs to text that is escaped, and every cell is null.
    reserve(output, namesLength + 6 * length + 4 * names.length + 1);
    for (let column = 0; column < names.length; column++) {
      const name = names[column] as Buffer;
      const start = starts[column] as number;
      const end = ends[column] as number;
      copy(output, name, 0, name.length);
      if (start < 0) copy(output, NULL, 0, NULL.length);
      else if (column === AUTHOR || (arraysAsText && isStructure(bytes[start])))
        writeString(output, bytes.toString('utf8', start, end));
      else copy(output, bytes, start, end);
    }
    output.bytes[output.at++] = CLOSE_BRACE;
  };
}

function isStructure(first: number | undefined): boolean {
  return first === OPEN_BRACKET || first === OPEN_BRACE;
}

function writeString(output: Output, text: string): void {
  output.at += output.bytes.write(JSON.stringify(text), output.at);
}
