import type { Readable } from 'node:stream';
import { copyTable, type Order } from '../../core/packets/copy-store.ts';
import {
  type CopyPackets,
  type ExportContext,
  type ExportOptions,
  openExport,
} from '../../core/packets/export.ts';
import type { PacketFilter } from '../../core/packets/filter-store.ts';
import { DECLARED_COLUMNS } from './columns.ts';
import { type NameColumn, type NameSources, nameFinder } from './names.ts';
import { newOutput, take } from './output.ts';
import { cellReader, columnFinder, type FoundColumns, fieldsWith } from './rows.ts';
import type { RowWriter } from './writer.ts';

export interface TableOptions extends ExportOptions {
  /** columns in addition to the declared ones; those that occur when absent, found by reading the packets twice */
  columns?: readonly string[] | undefined;
  /** columns of names, and where they are found */
  names?: { columns: readonly NameColumn[]; sources: NameSources } | undefined;
  /** of the rows; without one, as the packets are on disk */
  order?: Order | undefined;
  /** called before the first piece if fields have no column, with their number */
  onLeftOut?: ((fields: number) => void) | undefined;
}

/**
 * Opens a table of packets: a stream of bytes (packets/export.ts).
 *
 * @param writer makes the writer of a format, given all columns
 * @throws Problem unavailable when too many exports run; any error before the first piece
 */
export function exportTable(
  context: ExportContext,
  filter: PacketFilter,
  writer: (columns: readonly string[]) => RowWriter,
  { columns: chosen, names, order, onLeftOut, ...options }: TableOptions = {},
): Promise<Readable> {
  const named = names?.columns ?? [];
  const fields = fieldsWith(named);
  return openExport(
    context,
    filter,
    async function* (copy) {
      const copyRows = (order?: Order) =>
        copy(fields, window => copyTable(filter, { order, window, withGeoid: named.length > 0 }), order);
      const further = chosen ? { columns: chosen, leftOut: 0 } : await findColumns(copyRows(), named);
      if (further.leftOut > 0) onLeftOut?.(further.leftOut);
      const columns = [...DECLARED_COLUMNS, ...named, ...further.columns];
      const output = newOutput();
      const readCells = cellReader(columns, named);
      const findNames = names && named.length > 0 ? nameFinder(named, names.sources, fields) : undefined;
      const { start, row, end } = writer(columns);
      start(output);
      for await (const rows of copyRows(order)) {
        if (output.at > 0) yield take(output);
        readCells(rows, cells => row(output, cells), await findNames?.(rows));
      }
      end(output);
      if (output.at > 0) yield take(output);
    },
    options,
  );
}

async function findColumns(
  pieces: ReturnType<CopyPackets>,
  names: readonly NameColumn[],
): Promise<FoundColumns> {
  const { read, foundColumns } = columnFinder(names);
  for await (const rows of pieces) read(rows);
  return foundColumns();
}
