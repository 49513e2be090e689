import { chosenOf, TILE_FILTERS } from '../../api/filters.ts';

/** The types of observations, in the order in which they are offered. */
export const TYPES = ['note', 'file_ref', 'weather', 'custom'] as const;

export type Filters = Partial<Record<(typeof TILE_FILTERS)[number], string>>;

/** The detail of an observation that is its text. */
const MESSAGE = 'message';

/** The chosen filters. A text without the name of a detail is looked for in that of the observation; a name alone is none. */
export function chosenFilters(query: URLSearchParams): Filters {
  const { field = MESSAGE, text, ...others } = chosenOf(query, TILE_FILTERS);
  return text === undefined ? others : { ...others, field, text };
}

/** The chosen filters that the list next to the map supports. */
export function listFilters({ type, geoid, from, to }: Filters) {
  return { type, geoid, from, to };
}

/** Whether a packet has the chosen text in the chosen detail, in any case, as the tiles decide it. */
export function hasText(
  { field, text }: { field?: string; text?: string },
  body: Record<string, unknown>,
): boolean {
  if (field === undefined || text === undefined) return true;
  const value = body[field];
  if (value === undefined || value === null) return false;
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  return shown.toLowerCase().includes(text.toLowerCase());
}

/** The address of a layer's tiles, as MapLibre asks for them. */
export function tileAddress(layer: 'observations' | 'fields', filters: Filters): string {
  const query = new URLSearchParams(filters as Record<string, string>).toString();
  return `session://packet/tiles/${layer}/{z}/{x}/{y}.mvt${query && `?${query}`}`;
}
