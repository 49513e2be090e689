import { groundOfChecked } from '../../../geometry/boundary.ts';
import { contains, type Ground, interiorPoint } from '../../../geometry/polygon.ts';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller } from '../access/caller.ts';
import { findIdsOfGeoid } from '../packets/geoid-store.ts';
import { costOf } from './cost.ts';
import { deleteField, findFields, lockRegistration, othersAround } from './store.ts';
import type { FieldWatch } from './watch.ts';

/** Sample points per side of a field's bounding box. */
const SAMPLES = 8;
/** A field lies inside another if more than this part of it does. */
const INSIDE = 0.5;
/** Other users' fields per query. */
const BATCH = 16;

/**
 * A field of another user in which more than half of this ground lies, and which is no smaller: points in both would
 * get the new field's GeoID from then on. A strict "within" could be met by reaching out of the field by a metre; any
 * overlap at all is common between neighbours, whose surveys differ by some metres.
 *
 * @param author the registering user
 * @returns its GeoID
 */
export async function findOuter(
  database: Database,
  ground: Ground,
  author: string,
  pace: Pace,
): Promise<string | undefined> {
  const points = samplesOf(ground);
  let after: { areaM2: number; geoid: string } | undefined;
  for (;;) {
    const { bounds: box, areaM2 } = ground;
    const others = await othersAround(database, { box, areaM2, author, after }, BATCH);
    for (const { geoid, boundary } of others) {
      const geometry: unknown = JSON.parse(boundary);
      await pace(costOf(geometry));
      if (holds(groundOfChecked(geometry), points)) return geoid;
    }
    const last = others.at(-1);
    if (others.length < BATCH || !last) return undefined;
    after = { areaM2: last.area_m2, geoid: last.geoid };
  }
}

function holds(ground: Ground, points: readonly (readonly [lon: number, lat: number])[]): boolean {
  const inside = points.filter(([lon, lat]) => contains(ground, lat, lon));
  return inside.length > points.length * INSIDE;
}

/** Points inside a ground: those of a grid, or one where the ground is too thin for it. */
function samplesOf(ground: Ground): [lon: number, lat: number][] {
  const { south, west, north, east } = ground.bounds;
  const points: [number, number][] = [];
  for (let row = 0.5; row < SAMPLES; row++) {
    for (let column = 0.5; column < SAMPLES; column++) {
      const lat = south + ((north - south) * row) / SAMPLES;
      const lon = west + ((east - west) * column) / SAMPLES;
      if (contains(ground, lat, lon)) points.push([lon, lat]);
    }
  }
  return points.length > 0 ? points : [interiorPoint(ground)];
}

/**
 * Deletes a field that no packet refers to, in the caller's transaction. A packet that is being resolved at the same
 * moment may still get its GeoID, which remains as valid as that of any ground without a field.
 *
 * @param options mode: AUTH_MODE; watch: gets the deleted field
 * @throws Problem not_found, conflict if a packet refers to it, unauthenticated or forbidden for users who did not
 *   register it
 */
export async function removeField(
  database: Database,
  caller: Caller & { administrator: boolean },
  geoid: string,
  { mode, watch }: { mode: 'off' | 'optional' | 'required'; watch: Pick<FieldWatch, 'deleted'> },
): Promise<void> {
  await lockRegistration(database);
  const [field] = await findFields(database, [geoid]);
  if (!field) throw new Problem('field.unknown', { geoid });
  checkRegistrar(caller, field, mode);
  const [packet] = await findIdsOfGeoid(database, geoid, 1);
  if (packet) throw new Problem('field.has_packets', { geoid });
  await deleteField(database, geoid, new Date());
  await watch.deleted(database, geoid);
}

function checkRegistrar(
  { user, anonymous, administrator }: Caller & { administrator: boolean },
  { geoid, author }: { geoid: string; author: string | null },
  mode: 'off' | 'optional' | 'required',
): void {
  if (administrator || mode === 'off') return;
  if (author !== null && anonymous) throw new Problem('field.needs_token', { geoid });
  if (author === null ? mode === 'required' : author !== user) {
    throw new Problem('field.not_own', { geoid });
  }
}
