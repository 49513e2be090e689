/** The filters of the list, as they are in the address and as the service names them. */
export const FILTERS = ['type', 'geoid', 'from', 'to'] as const;

/** The known types of packets, in the order in which they are offered. */
export const TYPES = ['note', 'chat_message', 'file_ref', 'weather', 'custom'] as const;

/** The chosen filters of an address. */
export function chosenFilters(query: URLSearchParams): Partial<Record<(typeof FILTERS)[number], string>> {
  const chosen = FILTERS.map(name => [name, query.get(name) ?? ''] as const).filter(
    ([, value]) => value !== '',
  );
  return Object.fromEntries(chosen);
}

/** The address of the CSV file with the same packets. */
export function csvAddress(query: URLSearchParams): string {
  const text = new URLSearchParams(chosenFilters(query)).toString();
  return `/packet/packets.csv${text && `?${text}`}`;
}
