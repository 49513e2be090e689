import { groundOfChecked } from '../../../geometry/boundary.ts';
import { contains, type Ground, interiorPoint } from '../../../geometry/polygon.ts';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Caller, tokenNeeded } from '../access/caller.ts';
import { findIdsOfGeoid } from '../packets/geoid-store.ts';
import { costOf } from './cost.ts';
import { deleteField, findFields, lockRegistration, othersAround } from './store.ts';
import type { FieldWatch } from './watch.ts';

/** Who registers fields. */
export interface Registrar {
  /** the user of the token */
  author: string | null;
  /** whether tokens are checked and there is none */
  anonymous: boolean;
  /** whether the user may register fields inside those of others */
  administrator: boolean;
}

/** Sample points per side of a field's bounding box. */
const SAMPLES = 8;
/** A field lies inside another if more than this part of it does. */
const INSIDE = 0.5;
/** Other users' fields per query. */
const BATCH = 16;

/**
 * Refuses a field inside one that another user registered with a token. Nobody is refused inside a field that was
 * registered without one, nor with AUTH_MODE=off.
 *
 * @param field which: its name in the error
 * @throws Problem forbidden, unauthenticated without a token
 */
export async function refuseInside(
  database: Database,
  { ground, which }: { ground: Ground; which: string },
  { author, anonymous, administrator }: Registrar,
  pace: Pace,
): Promise<void> {
  if (administrator || (author === null && !anonymous)) return;
  const outer = await findOuter(database, ground, author, pace);
  if (outer === undefined) return;
  if (anonymous) throw tokenNeeded(`field ${outer}, in which ${which} lies,`);
  throw new Problem('forbidden', `${which} lies inside field ${outer}, which another user registered`);
}

/**
 * A field of another user in which more than half of this ground lies, and which is no smaller: points in both would
 * get the new field's GeoID from then on. A strict "within" could be met by reaching out of the field by a metre; any
 * overlap at all is common between neighbours, whose surveys differ by some metres.
 *
 * @param author the registering user; null finds the fields of every user of a token
 * @returns its GeoID
 */
async function findOuter(
  database: Database,
  ground: Ground,
  author: string | null,
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
  if (!field) throw new Problem('not_found', `there is no field ${geoid}`);
  checkRegistrar(caller, field, mode);
  const [packet] = await findIdsOfGeoid(database, geoid, 1);
  if (packet) throw new Problem('conflict', `packets refer to field ${geoid}, so it cannot be deleted`);
  await deleteField(database, geoid, new Date());
  await watch.deleted(database, geoid);
}

function checkRegistrar(
  { user, anonymous, administrator }: Caller & { administrator: boolean },
  { geoid, author }: { geoid: string; author: string | null },
  mode: 'off' | 'optional' | 'required',
): void {
  if (administrator || mode === 'off') return;
  if (author !== null && anonymous) throw tokenNeeded(`field ${geoid}`);
  if (author === null ? mode === 'required' : author !== user) {
    throw new Problem(
      'forbidden',
      `only the user who registered field ${geoid}, or an administrator, can delete it`,
    );
  }
}
