/** The filters of the search, as they are in the address and as the service names them. */
const FILTERS = ['keyword', 'from', 'to'] as const;

export type Search = Partial<Record<(typeof FILTERS)[number], string>>;

/** The search of an address: of that of the hits, and of that of a hit in its thread. */
export function chosenSearch(query: URLSearchParams): Search {
  const chosen = FILTERS.map(name => [name, query.get(name) ?? ''] as const);
  return Object.fromEntries(chosen.filter(([, value]) => value !== ''));
}

/** The address of a hit in its thread, which remembers what was searched. */
export function hitAddress(hit: { thread_id: string; packet_id: string }, search: Search): string {
  return `/threads/${hit.thread_id}?${new URLSearchParams({ message: hit.packet_id, ...search })}`;
}

/** The address of all hits of a search; undefined where nothing was searched. */
export function hitsAddress(search: Search): string | undefined {
  const text = new URLSearchParams(search).toString();
  return text === '' ? undefined : `/threads?${text}`;
}
