import type { Readable } from 'node:stream';
import { copyGraph, type ExportFilter } from '../../core/packets/copy-store.ts';
import { type ExportContext, type ExportOptions, openExport } from '../../core/packets/export.ts';
import { GRAPH_FIELDS, readGraphRows } from './rows.ts';
import { type TripleWriter, writeTriples } from './triples.ts';

/**
 * Opens an export of triples: a stream of lines (packets/export.ts).
 *
 * @throws Problem unavailable when too many exports run; any error before the first piece
 */
export function exportGraph(
  context: ExportContext,
  filter: ExportFilter,
  write: TripleWriter,
  options?: ExportOptions,
): Promise<Readable> {
  return openExport(
    context,
    filter,
    async function* (copy) {
      for await (const rows of copy(GRAPH_FIELDS, window => copyGraph(filter, window))) {
        let text = '';
        readGraphRows(rows, row => {
          text += writeTriples(row, write);
        });
        if (text !== '') yield text;
      }
    },
    options,
  );
}
