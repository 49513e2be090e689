import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { groundOfChecked } from '../../../geometry/boundary.ts';
import { type Leaf, leafCell } from '../../../geometry/cells.ts';
import { type Bounds, jaccard } from '../../../geometry/covers.ts';
import { contains, type Ground } from '../../../geometry/polygon.ts';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { costOf } from './cost.ts';
import { type FieldBlocks, fieldBlocks, keysOf } from './field-blocks.ts';
import { cornersGeoid, fieldGeoid } from './geoid.ts';
import { type Registrar, refuseInside } from './owners.ts';
import type { AsOf, Point } from './resolution.ts';
import {
  type FieldRow,
  fieldsOfCells,
  findFields,
  insertField,
  isTaken,
  lockRegistration,
  similarFields,
} from './store.ts';
import { cellsOfGround, type Survey } from './survey.ts';
import type { FieldWatch } from './watch.ts';

/** Two boundaries enclose the same ground when their level-20 cells agree by more than this (Jaccard index). */
const SAME_GROUND = 0.95;
/** Bytes of parsed boundaries in the cache. Fields never change, so entries never become stale. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** Points in one look-up. */
const MAX_POINTS = 256;
/** Boundaries that are read from the database at once; the largest have 200 KB. */
const BOUNDARIES_AT_ONCE = 16;
/** Approximate microseconds to compare a point with a coordinate of an edge. */
const COORDINATE_COST = 0.005;

/** A field to register, read and checked, with the cells by which it is compared and found. */
export interface FieldToRegister extends Survey {
  name: string | undefined;
  /** GeoJSON geometry */
  boundary: string;
}

export interface Registered {
  geoid: string;
  areaM2: number;
  name: string | undefined;
  status: 'registered' | 'already_registered';
}

/** The GeoIDs of the fields that hold a point, smallest first; of equal areas the lower GeoID first. */
export interface Holding {
  geoids: string[];
  asOf?: AsOf | undefined;
}

/** Finds the fields that hold points. */
export interface FieldFinder {
  /**
   * Sees everything committed before the call, by any process: only parsed boundaries are cached. Points that arrive
   * while a look-up is in flight are combined into the next.
   */
  lookUp(point: Point): Promise<string[]>;
  /** Like `lookUp`, from memory, if possible; valid while the fields are in the state of `asOf`. */
  recall(point: Point, leaf: Leaf): Holding | Promise<Holding>;
}

export function fieldFinder(pool: pg.Pool, pace: Pace): FieldFinder {
  const kept = new LRUCache<string, Boundary>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ ground }) => 200 + ground.edges.byteLength,
  });

  const lookUp = batchLoader(
    async (points: Point[]) => {
      const cells = points.map(({ lat, lon }) => keysOf(leafCell(lat, lon)));
      const cellFields = await fieldsOfCells(pool, [...new Set(cells.flat())]);
      if (cellFields.length === 0) return points.map(() => []);
      const byCell = Map.groupBy(cellFields, ({ cell }) => cell);
      const fields = await boundaries(pool, new Set(cellFields.map(({ geoid }) => geoid)), { kept, pace });
      const holding: string[][] = [];
      for (const [index, point] of points.entries()) {
        const near = (cells[index] as number[])
          .flatMap(cell => byCell.get(cell) ?? [])
          .map(({ geoid }) => geoid);
        holding.push(await holdingOf(point, near, fields, pace));
      }
      return holding;
    },
    { max: MAX_POINTS },
  );
  const blocks = fieldBlocks(pool);

  async function recallFrom(point: Point, pending: ReturnType<FieldBlocks['find']>): Promise<Holding> {
    const candidates = await pending;
    if (!candidates) return { geoids: await lookUp(point) };
    const { state, geoids } = candidates;
    // Boundaries are read for many points at once.
    if (geoids.some(geoid => !kept.has(geoid))) return { geoids: await lookUp(point) };
    const fields = await boundaries(pool, new Set(geoids), { kept, pace });
    return { geoids: await holdingOf(point, geoids, fields, pace), asOf: asOf(state) };
  }
  const asOf = (state: string): AsOf => ({ state, outdated: () => blocks.outdated(state) });

  return {
    lookUp,
    recall(point, leaf) {
      const candidates = blocks.find(leaf);
      if (candidates && 'geoids' in candidates && candidates.geoids.length === 0) {
        return { geoids: [], asOf: asOf(candidates.state) };
      }
      return recallFrom(point, candidates);
    },
  };
}

/** Which fields hold a point, in the order of a {@link Holding}. A field that was deleted meanwhile does not. */
async function holdingOf(
  { lat, lon }: Point,
  geoids: readonly string[],
  fields: ReadonlyMap<string, Boundary>,
  pace: Pace,
): Promise<string[]> {
  const near = geoids.flatMap(geoid => {
    const field = fields.get(geoid);
    return field ? [{ geoid, ...field }] : [];
  });
  await pace(near.reduce((sum, { ground }) => sum + ground.edges.length, 0) * COORDINATE_COST);
  return near
    .filter(({ ground }) => contains(ground, lat, lon))
    .sort((a, b) => a.areaM2 - b.areaM2 || (a.geoid < b.geoid ? -1 : 1))
    .map(({ geoid }) => geoid);
}

/** The boundary of a registered field, parsed. */
interface Boundary {
  ground: Ground;
  areaM2: number;
}

async function boundaries(
  database: Database,
  geoids: ReadonlySet<string>,
  { kept, pace }: { kept: LRUCache<string, Boundary>; pace: Pace },
): Promise<Map<string, Boundary>> {
  const fields = new Map<string, Boundary>();
  const missing: string[] = [];
  for (const geoid of geoids) {
    const field = kept.get(geoid);
    if (field) fields.set(geoid, field);
    else missing.push(geoid);
  }
  for await (const { geoid, ground, area_m2: areaM2 } of parsedFields(database, missing, pace)) {
    kept.set(geoid, { ground, areaM2 });
    fields.set(geoid, { ground, areaM2 });
  }
  return fields;
}

/** Reads fields a few at a time and parses their boundaries, in the order of their GeoIDs in `geoids`. */
async function* parsedFields(
  database: Database,
  geoids: readonly string[],
  pace: Pace,
): AsyncGenerator<FieldRow & { ground: Ground }> {
  for (let at = 0; at < geoids.length; at += BOUNDARIES_AT_ONCE) {
    const part = geoids.slice(at, at + BOUNDARIES_AT_ONCE);
    const rows = new Map((await findFields(database, part)).map(row => [row.geoid, row]));
    for (const geoid of part) {
      const row = rows.get(geoid);
      if (!row) continue;
      const geometry: unknown = JSON.parse(row.boundary);
      await pace(costOf(geometry));
      yield { ...row, ground: groundOfChecked(geometry) };
    }
  }
}

/**
 * Registers fields one after another inside the caller's transaction. A field whose ground is registered already,
 * by an earlier request or earlier in the list, keeps the GeoID it has there. Transactions that register take turns,
 * so no ground gets two GeoIDs.
 *
 * @param registrar of the fields
 * @param options watch: gets the fields that were not registered before
 * @throws Problem conflict when no GeoID is left for a boundary; forbidden when one lies inside another user's field,
 *   unauthenticated without a token
 */
export async function registerFields(
  database: Database,
  fields: readonly FieldToRegister[],
  registrar: Registrar,
  { now, pace, watch }: { now: Date; pace: Pace; watch: Pick<FieldWatch, 'registered'> },
): Promise<Registered[]> {
  await lockRegistration(database);
  const added: { geoid: string; bounds: Bounds }[] = [];
  const answers: Registered[] = [];
  for (const [index, { ground, cells, coverKeys, name, boundary }] of fields.entries()) {
    const same = await sameGround(database, { ground, cells }, pace);
    if (same) {
      answers.push({ ...same, status: 'already_registered' });
      continue;
    }
    const which = fields.length > 1 ? `features[${index}]` : 'the field';
    await refuseInside(database, { ground, which }, registrar, pace);
    const { bounds, areaM2 } = ground;
    const geoid = await freeGeoid(database, ground, boundary);
    const field = { geoid, name, boundary, areaM2, bounds, groundCells: cells.count, cells: coverKeys };
    await insertField(database, { ...field, author: registrar.author }, now);
    added.push({ geoid, bounds });
    answers.push({ geoid, areaM2, name, status: 'registered' });
  }
  await watch.registered(database, added);
  return answers;
}

/**
 * The registered field with the same ground: the best match of those whose level-20 cells agree by more than 95 %.
 * The cells are those that the ground itself meets. AgStack v1 compares the cells of bounding boxes, which makes the
 * two halves of a square cut along its diagonal one field; for upright rectangles the rules are the same.
 */
export async function sameGround(
  database: Database,
  { ground, cells }: Pick<Survey, 'ground' | 'cells'>,
  pace: Pace,
): Promise<{ geoid: string; areaM2: number; name: string | undefined } | undefined> {
  const box = widened(ground.bounds);
  const similar = await similarFields(database, { box, groundCells: cells.count, ratio: SAME_GROUND });
  let best: { geoid: string; areaM2: number; name: string | undefined } | undefined;
  let agreement = SAME_GROUND;
  for await (const { geoid, name, ground: theirs, area_m2: areaM2 } of parsedFields(
    database,
    similar,
    pace,
  )) {
    const alike = jaccard(cells, cellsOfGround(theirs));
    if (alike <= agreement) continue;
    agreement = alike;
    best = { geoid, areaM2, name: name ?? undefined };
  }
  return best;
}

/** 0.0002 degrees, about 20 metres, on every side: grounds in the same cell count as one even if they do not meet. */
function widened({ south, west, north, east }: Bounds): Bounds {
  const height = 0.0002;
  const width = height / Math.cos((Math.max(Math.abs(south), Math.abs(north)) * Math.PI) / 180);
  return { south: south - height, west: west - width, north: north + height, east: east + width };
}

/**
 * The GeoID for a new field with this ground: v1's, of the level-13 cells of its bounding box; if another field has
 * that one, of its level-20 cells; if a field of another shape has that one too, of its corners.
 *
 * @param boundary its GeoJSON geometry, which may get a GeoID again that it had before
 * @throws Problem conflict when all are taken
 */
export async function freeGeoid(
  database: Database,
  { bounds, edges }: Ground,
  boundary: string,
): Promise<string> {
  for (const level of [13, 20] as const) {
    const geoid = await fieldGeoid(bounds, level);
    if (!(await isTaken(database, geoid, boundary))) return geoid;
  }
  const corners = [...edges].flatMap((lon, k) =>
    k % 4 === 0 ? [lon > 180 ? lon - 360 : lon, edges[k + 1] ?? 0] : [],
  );
  const geoid = cornersGeoid(corners);
  if (!(await isTaken(database, geoid, boundary))) return geoid;
  throw new Problem('field.no_geoid_left');
}
