import { rangeEnd } from '../contract/range-end.ts';
import { parseBox, parseCircle } from './area.ts';
import type { PacketFilter } from './filter-store.ts';
import type { FilterQuery } from './schemas.ts';

/** Every parameter becomes the filter of its name; a missing one does not compile. */
type ReadFilter = { [Name in keyof Required<FilterQuery>]: PacketFilter[Name] };

/** @throws Problem invalid, naming the parameter */
export function readFilter({ geoid, type, from, to, bbox, near }: FilterQuery): ReadFilter {
  return {
    geoid,
    type,
    from: rangeEnd(from, 'from'),
    to: rangeEnd(to, 'to'),
    bbox: bbox === undefined ? undefined : parseBox(bbox),
    near: near === undefined ? undefined : parseCircle(near),
  };
}
