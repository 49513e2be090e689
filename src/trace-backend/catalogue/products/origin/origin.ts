import { Problem } from '../../../../platform/http/problems.ts';
import { type Fault, fault } from '../../../../platform/http/reasons/catalogue.ts';
import type { Location } from '../record/parts.ts';
import type { Content } from '../record/store.ts';
import {
  checkPlot,
  countPositions,
  onGrid,
  type Plot,
  plotArea,
  plotText,
  type ReportFault,
  readPlot,
} from './plot.ts';

const M2_IN_HECTARE = 10_000;
/** Larger plots need polygons: Regulation (EU) 2023/1115, Article 2(28). */
const LARGEST_POINT_HA = 4;
/** Maximum positions in all plots of a product. */
const MAX_POSITIONS = 15_000;

function locationsOf({ origin }: Content): Location[] {
  return (origin as { locations?: Location[] } | undefined)?.locations ?? [];
}

/**
 * Checks the plots of a product by the rules of plot.ts. First counts positions, including those of invalid plots;
 * stops checking for self-intersection at the first plot that has one.
 *
 * @throws Problem invalid, with all wrong fields
 */
export function checkLocations(content: Content): void {
  const { report, throwIfAny } = faultCollector();
  const plots = locationsOf(content).flatMap(({ geometry }, index) =>
    geometry ? [{ geometry, path: `origin.locations.${index}.geometry` }] : [],
  );
  const positions = plots.reduce((sum, { geometry }) => sum + countPositions(geometry), 0);
  if (positions > MAX_POSITIONS) {
    report(fault('plot.too_many_positions', { field: 'origin.locations', max: MAX_POSITIONS }));
    throwIfAny();
  }
  let isValid = true;
  for (const { geometry, path } of plots) {
    const plot = readPlot(geometry, path, report);
    if (plot && isValid) isValid = checkPlot(plot, path, report);
  }
  throwIfAny();
}

/** Collects faults, and throws them as one problem. */
function faultCollector(): { report: ReportFault; throwIfAny: () => void } {
  const faults = new Map<unknown, Fault>();
  return {
    report: found => {
      const { field } = found.parameters;
      if (faults.size < 50 && !faults.has(field)) faults.set(field, found);
    },
    throwIfAny: () => {
      if (faults.size > 0) throw new Problem([...faults.values()]);
    },
  };
}

/**
 * The origin of a product as a geolocation file of the EU's deforestation regulation: a GeoJSON feature for each of
 * its locations, in WGS 84 with six decimals. docs/guides/origin.md has the rules and their sources.
 *
 * @param producer name of the producer
 * @returns JSON text
 * @throws Problem invalid, with the fields of features that do not comply
 */
export function originFile(content: Content, producer: string | undefined): string {
  const { report, throwIfAny } = faultCollector();
  const features = locationsOf(content).map((location, index) => {
    const plot = plotOf(location, `features.${index}.geometry`, report);
    if (!plot) return '';
    const properties = { ...propertiesOf(location, producer), ...areaOf(location, plot, index, report) };
    return `{"type":"Feature","properties":${JSON.stringify(properties)},"geometry":${plotText(plot)}}`;
  });
  throwIfAny();
  return `{"type":"FeatureCollection","features":[${features.join(',')}]}`;
}

function plotOf(location: Location, path: string, report: ReportFault): Plot | undefined {
  const { geometry, latitude, longitude } = location;
  if (geometry) return readPlot(geometry, path, report);
  if (latitude == null || longitude == null) {
    report(fault('plot.no_place', { field: path }));
    return undefined;
  }
  return { type: 'Point', line: [onGrid(longitude), onGrid(latitude)] };
}

function propertiesOf(
  { address, pinName, countryCode, geoid }: Location,
  producer: string | undefined,
): object {
  const name = pinName || (typeof address === 'string' ? address : undefined);
  return {
    ...(producer && { ProducerName: producer }),
    ...(countryCode && { ProducerCountry: countryCode }),
    ...(name && { ProductionPlace: name }),
    ...(geoid && { GeoID: geoid }),
  };
}

function areaOf({ areaInHectares }: Location, plot: Plot, index: number, report: ReportFault): object {
  if (plot.type === 'Polygon') return { Area: rounded(plotArea(plot) / M2_IN_HECTARE) };
  if (areaInHectares == null) return {};
  if (areaInHectares > LARGEST_POINT_HA) {
    report(fault('plot.needs_polygon', { field: `features.${index}.geometry`, max_ha: LARGEST_POINT_HA }));
  }
  return { Area: areaInHectares };
}

/** Rounds hectares to a square metre. */
function rounded(hectares: number): number {
  return Math.round(hectares * M2_IN_HECTARE) / M2_IN_HECTARE;
}
