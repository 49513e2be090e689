import type { FastifyRequest } from 'fastify';
import { contentDisposition } from '../../../platform/http/disposition.ts';
import type { AdmitDownload } from '../../../platform/http/downloads.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { Visibility } from '../../core/access/visibility.ts';
import { exportOnEither } from '../../core/packets/export.ts';
import { readFilter } from '../../core/packets/filter.ts';
import type { ChooseReads } from '../../core/replicas/reads.ts';
import { readColumns } from './columns.ts';
import { csvWriter } from './csv.ts';
import { exportTable } from './export.ts';
import { geojsonWriter, ndjsonWriter } from './json.ts';
import type { NameColumn, NameSources } from './names.ts';
import {
  CSV,
  csvSchema,
  FIELDS_LEFT_OUT,
  GEOJSON,
  geojsonSchema,
  NDJSON,
  ndjsonSchema,
  type TableQuery,
} from './schemas.ts';
import type { RowWriter } from './writer.ts';

/** Finds names for the caller of a request. */
export type NamesFor = (request: FastifyRequest) => NameSources;

/** A format of tables. */
interface Format {
  schema: typeof csvSchema;
  type: string;
  writer: (columns: readonly string[], raw: boolean) => RowWriter;
}

/** Formats by the ending of the path. */
const FORMATS: Record<string, Format> = {
  csv: { schema: csvSchema, type: `${CSV}; charset=utf-8; header=present`, writer: csvWriter },
  ndjson: { schema: ndjsonSchema, type: NDJSON, writer: ndjsonWriter },
  geojson: { schema: geojsonSchema, type: `${GEOJSON}; charset=utf-8`, writer: geojsonWriter },
};

/** Packets as tables: all packets of a filter at once, for data frames and GIS programs. */
export function registerTables(
  app: Server,
  {
    reads,
    visibility,
    admit,
    namesFor,
  }: { reads: ChooseReads; visibility: Visibility; admit: AdmitDownload; namesFor: NamesFor },
): void {
  for (const [ending, { schema, type, writer }] of Object.entries(FORMATS)) {
    app.get(`/packets.${ending}`, { schema }, async (request, reply) => {
      const query = request.query as TableQuery;
      const names = [...new Set(query.names?.split(',') as NameColumn[] | undefined)];
      const columns = readColumns(query.columns, names);
      const filter = { ...readFilter(query), threads: await visibility.readableThreads(request) };
      const day = new Date().toISOString().slice(0, 10);
      reply.type(type).header('content-disposition', contentDisposition(`packets-${day}.${ending}`));
      // Fastify would read the whole table to answer without it.
      if (request.method === 'HEAD') return reply.send();
      const signal = await admit(request, reply, request.user);
      const table = await exportOnEither(await reads(request), signal, context =>
        exportTable(context, filter, columns => writer(columns, query.raw === 'true'), {
          columns,
          names: { columns: names, sources: namesFor(request) },
          order: query.order,
          onLeftOut: fields => reply.header(FIELDS_LEFT_OUT, String(fields)),
          signal,
        }),
      );
      return reply.send(table);
    });
  }
}
