import { chosenOf, PACKET_FILTERS } from '../../api/filters.ts';
import { chosenColumns, chosenNames } from './columns.ts';

/** The types of packets, in the order of the choice. */
export const TYPES = ['note', 'chat_message', 'file_ref', 'weather', 'custom'] as const;

/** The chosen filters of an address. */
export const chosenFilters = (query: URLSearchParams) => chosenOf(query, PACKET_FILTERS);

/** The order of an address: newest first, unless it says otherwise. */
export function chosenOrder(query: URLSearchParams): 'asc' | 'desc' {
  return query.get('order') === 'asc' ? 'asc' : 'desc';
}

/**
 * The address of the CSV file with the packets of the list, in its order.
 *
 * @param columns additional columns; all that occur if empty
 */
export function csvAddress(query: URLSearchParams, columns = chosenColumns(query).join(',')): string {
  const names = chosenNames(query).join(',');
  const parameters = {
    ...chosenFilters(query),
    order: chosenOrder(query),
    ...(columns && { columns }),
    ...(names && { names }),
  };
  return `/packet/packets.csv?${new URLSearchParams(parameters)}`;
}
