import { CHAT_FILTERS, chosenOf } from '../../api/filters.ts';

export type Search = Partial<Record<(typeof CHAT_FILTERS)[number], string>>;

/** The search of an address: of that of the hits, and of that of a hit in its thread. */
export const chosenSearch = (query: URLSearchParams): Search => chosenOf(query, CHAT_FILTERS);

/** The address of a hit in its thread, which remembers what was searched. */
export function hitAddress(hit: { thread_id: string; packet_id: string }, search: Search): string {
  return `/threads/${hit.thread_id}?${new URLSearchParams({ message: hit.packet_id, ...search })}`;
}

/** The address of all hits of a search; undefined where nothing was searched. */
export function hitsAddress(search: Search): string | undefined {
  const text = new URLSearchParams(search).toString();
  return text === '' ? undefined : `/threads?${text}`;
}
