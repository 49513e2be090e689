import { groundOfChecked } from '../../../geometry/boundary.ts';
import { overlapWith, sharedArea } from '../../../geometry/overlap.ts';
import type { Ground } from '../../../geometry/polygon.ts';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller } from '../access/caller.ts';
import { findIdsOfGeoid } from '../packets/geoid-store.ts';
import { costOf } from './cost.ts';
import { deleteField, findFields, lockRegistration, othersAround, smallerOfOthers } from './store.ts';
import type { FieldWatch } from './watch.ts';

/** The user who registers fields. */
export interface Registrar {
  /** the user of the token */
  author: string | null;
  /** whether tokens are checked and there is none */
  anonymous: boolean;
  /** whether the user may register fields inside those of others */
  administrator: boolean;
}

/** The part of a field that may lie in another user's, and of a field that others' may take together. */
const HALF = 0.5;
/** Other users' fields per query. */
const BATCH = 16;
/** Smaller fields per query. */
const TAKERS_BATCH = 64;
/** Maximum number of smaller fields that are measured around another, and of characters of their boundaries. */
const MAX_TAKERS = 2000;
const MAX_TAKERS_LENGTH = 16 * 1024 * 1024;
/** Approximate microseconds to measure an overlap, for each number of an edge. */
const EDGE_COST = 1;

/** Why a field conflicts with that of another user. */
type Wrong = 'inside' | 'half' | 'crowded';

const WITH_TOKEN = {
  inside: 'field.inside_foreign',
  half: 'field.takes_half_of_foreign',
  crowded: 'field.too_many_around_foreign',
} as const;

/**
 * Refuses a field that would take over ground of another user who has registered it with a token. Nobody is refused on
 * ground that was registered without one, nor with AUTH_MODE=off.
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
  const { geoid, wrong } = outer;
  const parameters = { which, geoid };
  if (!anonymous) throw new Problem(WITH_TOKEN[wrong], parameters);
  throw new Problem(
    wrong === 'inside' ? 'field.inside_needs_token' : 'field.overlap_needs_token',
    parameters,
  );
}

/**
 * A field of another user, no smaller than this ground, in which more than half of this ground lies, or of which less
 * than half would be left, or of which that cannot be told: points in both get the GeoID of the smaller field. A strict
 * "within" could be met by reaching out of the field by a metre; any overlap at all is common between neighbours, whose
 * surveys differ by some metres.
 *
 * @param author the registering user; null finds the fields of every user of a token
 * @returns its GeoID, and which of them it is
 */
async function findOuter(
  database: Database,
  ground: Ground,
  author: string | null,
  pace: Pace,
): Promise<{ geoid: string; wrong: Wrong } | undefined> {
  let after: { areaM2: number; geoid: string } | undefined;
  for (;;) {
    const { bounds: box, areaM2 } = ground;
    const others = await othersAround(database, { box, areaM2, author, after }, BATCH);
    for (const { geoid, boundary, author: owner } of others) {
      const outer = await parsed(boundary, pace);
      await pace((ground.edges.length + outer.edges.length) * EDGE_COST);
      const shared = sharedArea(ground, outer);
      if (shared > ground.areaM2 * HALF) return { geoid, wrong: 'inside' };
      const wrong = shared > 0 ? await wrongToOuter(database, { outer, owner }, ground, pace) : undefined;
      if (wrong !== undefined) return { geoid, wrong };
    }
    const last = others.at(-1);
    if (others.length < BATCH || !last) return undefined;
    after = { areaM2: last.area_m2, geoid: last.geoid };
  }
}

/**
 * Whether a ground and the smaller fields of others together would take more than half of a field. All of them count:
 * if only some were measured, fields beside it would hide those that take parts of it.
 */
async function wrongToOuter(
  database: Database,
  { outer, owner }: { outer: Ground; owner: string | null },
  ground: Ground,
  pace: Pace,
): Promise<Exclude<Wrong, 'inside'> | undefined> {
  await pace((outer.edges.length + ground.edges.length) * EDGE_COST);
  const overlap = overlapWith(outer);
  overlap.add(ground);
  const smaller = { box: outer.bounds, areaM2: outer.areaM2, owner };
  let length = 0;
  for (let offset = 0; ; offset += TAKERS_BATCH) {
    const takers = await smallerOfOthers(database, smaller, { limit: TAKERS_BATCH, offset });
    if (offset + takers.length > MAX_TAKERS) return 'crowded';
    for (const { boundary } of takers) {
      length += boundary.length;
      if (length > MAX_TAKERS_LENGTH) return 'crowded';
      const taker = await parsed(boundary, pace);
      await pace(taker.edges.length * EDGE_COST);
      overlap.add(taker);
    }
    if (overlap.area() > outer.areaM2 * HALF) return 'half';
    if (takers.length < TAKERS_BATCH) return undefined;
  }
}

async function parsed(boundary: string, pace: Pace): Promise<Ground> {
  const geometry: unknown = JSON.parse(boundary);
  await pace(costOf(geometry));
  return groundOfChecked(geometry);
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
