import type { Readable } from 'node:stream';
import type { Bounds } from '../../../geometry/covers.ts';
import { fieldRanges, readRanges } from '../packets/copy-rows.ts';
import { copyRows, type ExportContext, openDownload } from '../packets/export.ts';
import { COPIED_FIELDS, copyFields } from './copy-store.ts';
import { asFeature } from './field-feature.ts';

/**
 * Opens a GeoJSON FeatureCollection of all fields, or of those whose bounds meet a box: a Feature per line, from one
 * snapshot, read no faster than the client takes it.
 *
 * @throws Problem unavailable when too many exports run; any error before the first piece
 */
export function downloadFields(
  context: ExportContext,
  box: Bounds | undefined,
  signal: AbortSignal,
): Promise<Readable> {
  return openDownload(
    context,
    async function* (client) {
      let before = '{"type":"FeatureCollection","features":[\n';
      for await (const rows of copyRows(client, copyFields(box), COPIED_FIELDS)) {
        yield before + featuresIn(rows).join(',\n');
        before = ',\n';
      }
      yield `${before === ',\n' ? '' : before}\n]}\n`;
    },
    signal,
  );
}

/** The fields in whole rows, as texts of Features. */
function featuresIn(rows: Buffer): string[] {
  const features: string[] = [];
  const { starts, ends } = fieldRanges(COPIED_FIELDS);
  const text = (field: number) => rows.toString('utf8', starts[field], ends[field]);
  for (let at = 0; at < rows.length; ) {
    at = readRanges(rows, at, { starts, ends });
    const feature = asFeature({
      geoid: text(0),
      name: (starts[1] as number) < 0 ? null : text(1),
      boundary: text(2),
      area_m2: Number(text(3)),
      created_at: new Date(Number(text(4))),
    });
    features.push(feature);
  }
  return features;
}
