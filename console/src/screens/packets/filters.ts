import { chosenColumns, chosenNames } from './columns.ts';

/** The filters of the list, as they are in the address and as the service names them. */
export const FILTERS = ['type', 'geoid', 'from', 'to', 'made_from', 'made_to', 'bbox', 'near'] as const;

/** The known types of packets, in the order in which they are offered. */
export const TYPES = ['note', 'chat_message', 'file_ref', 'weather', 'custom'] as const;

/** The chosen filters of an address. */
export function chosenFilters(query: URLSearchParams): Partial<Record<(typeof FILTERS)[number], string>> {
  const chosen = FILTERS.map(name => [name, query.get(name) ?? ''] as const).filter(
    ([, value]) => value !== '',
  );
  return Object.fromEntries(chosen);
}

/** The order of an address: newest first, unless it says otherwise. */
export function chosenOrder(query: URLSearchParams): 'asc' | 'desc' {
  return query.get('order') === 'asc' ? 'asc' : 'desc';
}

/**
 * The address of the CSV file with the same packets in the same order.
 *
 * @param columns those beside the declared ones; all that occur if there are none
 */
export function csvAddress(query: URLSearchParams, columns = chosenColumns(query).join(',')): string {
  const names = chosenNames(query).join(',');
  const asked = {
    ...chosenFilters(query),
    order: chosenOrder(query),
    ...(columns && { columns }),
    ...(names && { names }),
  };
  return `/packet/packets.csv?${new URLSearchParams(asked)}`;
}
