import { rangeEnd } from '../contract/range-end.ts';
import { parseBox, parseCircle } from './area.ts';
import type { PacketFilter } from './filter-store.ts';
import type { FilterQuery } from './schemas.ts';

/** Every parameter becomes the filter of its name; a missing one does not compile. */
type ReadFilter = { [Name in keyof Required<FilterQuery>]: PacketFilter[Name] };

/** @throws Problem invalid, naming the parameter */
export function readFilter(query: FilterQuery): ReadFilter {
  const { geoid, type, from, to, made_from, made_to, bbox, near } = query;
  return {
    geoid,
    type,
    from: rangeEnd(from, 'from'),
    to: rangeEnd(to, 'to'),
    made_from: momentOf(rangeEnd(made_from, 'from', 'made_from')),
    made_to: momentOf(rangeEnd(made_to, 'to', 'made_to')),
    bbox: bbox === undefined ? undefined : parseBox(bbox),
    near: near === undefined ? undefined : parseCircle(near),
  };
}

function momentOf(utc: string | undefined): Date | undefined {
  return utc === undefined ? undefined : new Date(utc);
}
