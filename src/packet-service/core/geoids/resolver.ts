import type pg from 'pg';
import { leafCell } from '../../../geometry/cells.ts';
import { interiorPoint } from '../../../geometry/polygon.ts';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { BreakerWatch } from '../../../platform/outbound/breaker-watch.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { type AgstackSettings, agstackResolver } from './agstack.ts';
import { pointGeoid } from './geoid.ts';
import { fieldFinder, freeGeoid, sameGround } from './registry.ts';
import { checkPoint, type GeoidResolver, MAX_ADDITIONAL_GEOIDS } from './resolution.ts';
import type { Surveyor } from './surveyor.ts';

export type { GeoidResolver, Point, Resolution } from './resolution.ts';

/** The settings of the asset registry. */
export type RegistrySettings = Pick<
  Settings,
  | 'ASSET_REGISTRY_URL'
  | 'ASSET_REGISTRY_TOKEN'
  | 'ASSET_REGISTRY_API_KEY'
  | 'ASSET_REGISTRY_CLIENT_SECRET'
  | 'ASSET_REGISTRY_STRICT'
>;

/** The configured resolver: the AgStack registry at ASSET_REGISTRY_URL, or else the built-in one. */
export function makeResolver(
  settings: RegistrySettings,
  {
    pool,
    pace,
    surveyor,
    breakers,
  }: { pool: pg.Pool; pace: Pace; surveyor: Surveyor; breakers: BreakerWatch },
): GeoidResolver {
  const { ASSET_REGISTRY_URL: url, ASSET_REGISTRY_STRICT: strict } = settings;
  if (url === undefined) return builtInResolver(pool, { strict, pace, surveyor });
  const agstack = { ...agstackOf(settings, url), limits: { watch: breakers } };
  return agstackResolver(agstack, (geometry, path) => surveyor.survey(geometry, path, false));
}

/** How an asset registry is reached. */
export function agstackOf(settings: RegistrySettings, url: string): AgstackSettings {
  return {
    url,
    token: settings.ASSET_REGISTRY_TOKEN,
    apiKey: settings.ASSET_REGISTRY_API_KEY,
    clientSecret: settings.ASSET_REGISTRY_CLIENT_SECRET,
  };
}

/**
 * Resolves by the fields registered with this service. A point gets the GeoID of the smallest field that contains it,
 * otherwise its own; with `strict` it is refused instead.
 *
 * A polygon gets the GeoID of the field on the same ground; otherwise of the smallest field that contains a point
 * inside it; otherwise the one it would be registered with. It is not registered: an outline in an observation need
 * not be a field.
 */
function builtInResolver(
  pool: pg.Pool,
  { strict, pace, surveyor }: { strict: boolean; pace: Pace; surveyor: Surveyor },
): GeoidResolver {
  const { lookUp, recall } = fieldFinder(pool, pace);

  return {
    async resolve(point, path = 'capture_point', { mayBeOutdated } = { mayBeOutdated: false }) {
      checkPoint(point, path);
      const leaf = leafCell(point.lat, point.lon);
      // Refused fields are not checked in a transaction.
      const holding = mayBeOutdated && !strict ? recall(point, leaf) : { geoids: await lookUp(point) };
      const { geoids, asOf } = holding instanceof Promise ? await holding : holding;
      const [geoid, ...others] = geoids;
      if (geoid !== undefined)
        return { geoid, additionalGeoids: others.slice(0, MAX_ADDITIONAL_GEOIDS), asOf };
      if (strict) throw new Problem('geoid.point_outside_fields', { field: path });
      return { geoid: pointGeoid(leaf), additionalGeoids: [], asOf };
    },

    async resolvePolygon(geometry, path = 'geojson') {
      const surveyed = await surveyor.survey(geometry, path, false);
      const { ground } = surveyed;
      const [lon, lat] = interiorPoint(ground);
      const [same, around] = await Promise.all([sameGround(pool, surveyed, pace), lookUp({ lat, lon })]);
      const geoid = same?.geoid ?? around[0];
      if (geoid === undefined && strict) throw new Problem('geoid.polygon_outside_fields', { field: path });
      if (geoid === undefined)
        return { geoid: await freeGeoid(pool, ground, JSON.stringify(geometry)), additionalGeoids: [] };
      return {
        geoid,
        additionalGeoids: around.filter(other => other !== geoid).slice(0, MAX_ADDITIONAL_GEOIDS),
      };
    },
  };
}
