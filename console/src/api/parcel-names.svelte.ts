import { Failure } from './failure.ts';
import { answered, quietPacket } from './services.ts';

/** A field that was registered with a name. */
export interface NamedParcel {
  geoid: string;
  name: string;
}

/** Maximum GeoIDs per request. */
const AT_ONCE = 100;
/** Characters of a GeoID where there is no name. */
const SHORT = 10;

let names = $state.raw<Readonly<Record<string, string>>>({});
const requested = new Set<string>();
let next: string[] = [];
/** whether another registry has the fields */
let isUnavailable = false;

/** Whether a text is a whole GeoID. */
export const isGeoid = (text: string) => /^[0-9a-f]{64}$/.test(text);

/** The start of a GeoID, which is enough to tell it from others. */
export const shortGeoid = (geoid: string) => (geoid.length > SHORT ? `${geoid.slice(0, SHORT)}…` : geoid);

/**
 * The name of a field. Names that are needed at the same time are one request, and each is requested once.
 *
 * @returns undefined until it is loaded, and if the field has no name
 */
export function parcelName(geoid: string): string | undefined {
  if (isGeoid(geoid) && !requested.has(geoid) && !isUnavailable) {
    requested.add(geoid);
    next.push(geoid);
    if (next.length === 1) setTimeout(askNext);
  }
  return names[geoid];
}

function askNext(): void {
  const geoids = next;
  next = [];
  for (let at = 0; at < geoids.length; at += AT_ONCE) void ask(geoids.slice(at, at + AT_ONCE));
}

async function ask(geoids: string[]): Promise<void> {
  try {
    know(await namesOf({ geoids: geoids.join(',') }));
  } catch (failure) {
    isUnavailable = failure instanceof Failure && failure.status === 501;
    // GeoIDs are shown instead; their names are requested again the next time.
    for (const geoid of geoids) requested.delete(geoid);
  }
}

/**
 * Fields whose names begin with a text, by name.
 *
 * @throws Failure
 */
export async function findParcels(name: string, signal: AbortSignal): Promise<NamedParcel[]> {
  const found = await namesOf({ name }, signal);
  know(found);
  return found;
}

async function namesOf(query: { geoids: string } | { name: string }, signal?: AbortSignal) {
  const call = quietPacket.GET('/fields/names', { params: { query }, ...(signal && { signal }) });
  return (await answered(call)).fields;
}

/** Keeps the names in an answer. */
function know(parcels: readonly NamedParcel[]): void {
  if (parcels.length === 0) return;
  for (const { geoid } of parcels) requested.add(geoid);
  names = { ...names, ...Object.fromEntries(parcels.map(({ geoid, name }) => [geoid, name])) };
}
