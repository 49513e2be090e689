import { createHash } from 'node:crypto';
import { gzipSync } from 'fflate';
import { zxyToTileId } from 'pmtiles';

/** A vector tile, not compressed. */
export interface Tile {
  z: number;
  x: number;
  y: number;
  data: Uint8Array;
}

const HEADER_BYTES = 127;
/** The bytes that readers request first: a longer header and directory would need further requests. */
const FIRST_BYTES = 16_384;
const GZIP = 2;
const MVT = 1;

/**
 * A PMTiles archive, version 3 (github.com/protomaps/PMTiles), of vector tiles. Tiles with the same bytes are in it once.
 * The same tiles make the same bytes on every machine: the compression is not Node's, which differs between versions.
 *
 * @throws Error if the directory is so long that it would have to be divided
 */
export function archiveOf(tiles: readonly Tile[], metadata: object): Uint8Array {
  const sorted = tiles
    .map(({ z, x, y, data }) => ({ id: zxyToTileId(z, x, y), z, data }))
    .sort((a, b) => a.id - b.id);
  const parts: Uint8Array[] = [];
  const known = new Map<string, { offset: number; length: number }>();
  const entries: Entry[] = [];
  let end = 0;
  for (const { id, data } of sorted) {
    const hash = createHash('sha256').update(data).digest('base64');
    let at = known.get(hash);
    if (!at) {
      const compressed = compress(data);
      at = { offset: end, length: compressed.length };
      known.set(hash, at);
      parts.push(compressed);
      end += compressed.length;
    }
    const last = entries.at(-1);
    if (last && last.id + last.run === id && last.offset === at.offset) last.run++;
    else entries.push({ id, run: 1, ...at });
  }
  const directory = compress(directoryOf(entries));
  if (HEADER_BYTES + directory.length > FIRST_BYTES)
    throw new Error('the directory of the tiles is too long');
  const described = compress(new TextEncoder().encode(JSON.stringify(metadata)));
  const header = headerOf({
    ...{ directory: directory.length, metadata: described.length, data: end },
    ...{ addressed: sorted.length, entries: entries.length, contents: parts.length },
    lastZoom: Math.max(...sorted.map(({ z }) => z)),
  });
  return new Uint8Array(Buffer.concat([header, directory, described, ...parts]));
}

/** Tiles with ids that follow each other and the same bytes. */
interface Entry {
  id: number;
  run: number;
  offset: number;
  length: number;
}

/** Varints, column by column; an offset of 0 is where the entry before ends. */
function directoryOf(entries: readonly Entry[]): Uint8Array {
  const bytes: number[] = [];
  const put = (value: number) => {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  };
  put(entries.length);
  for (const [index, { id }] of entries.entries()) put(id - (entries[index - 1]?.id ?? 0));
  for (const { run } of entries) put(run);
  for (const { length } of entries) put(length);
  for (const [index, { offset }] of entries.entries()) {
    const before = entries[index - 1];
    put(before && offset === before.offset + before.length ? 0 : offset + 1);
  }
  return Uint8Array.from(bytes);
}

interface Lengths {
  directory: number;
  metadata: number;
  data: number;
  addressed: number;
  entries: number;
  contents: number;
  lastZoom: number;
}

function headerOf(of: Lengths): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('PMTiles');
  header[7] = 3;
  const metadataAt = HEADER_BYTES + of.directory;
  const tilesAt = metadataAt + of.metadata;
  const numbers = [
    ...[HEADER_BYTES, of.directory, metadataAt, of.metadata],
    // There are no further directories.
    ...[tilesAt, 0, tilesAt, of.data],
    ...[of.addressed, of.entries, of.contents],
  ];
  for (const [index, value] of numbers.entries()) header.writeBigUInt64LE(BigInt(value), 8 + 8 * index);
  // Clustered; compression of directories and of tiles; the first zoom and the last.
  header.set([1, GZIP, GZIP, MVT, 0, of.lastZoom], 96);
  for (const [index, degrees] of [-180, -85.0511, 180, 85.0511].entries())
    header.writeInt32LE(Math.round(degrees * 1e7), 102 + 4 * index);
  return header;
}

function compress(data: Uint8Array): Uint8Array {
  return gzipSync(data, { level: 9, mtime: 0 });
}
