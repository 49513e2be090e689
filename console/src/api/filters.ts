import type { paths as PacketPaths } from './generated/packet-service.d.ts';
import type { paths as TracePaths } from './generated/trace-backend.d.ts';

/** Query parameters of a list that are no filters: the user, the page, the order, the details. */
type Other =
  | 'user_id'
  | ('limit' | 'offset' | 'cursor' | 'after' | 'requestType')
  | ('order' | 'sort' | 'sortBy' | 'authors');
type FiltersOf<Query> = Exclude<keyof NonNullable<Query> & string, Other>;
type Query<Paths, Path extends keyof Paths> = Paths[Path] extends {
  get: { parameters: { query?: infer Query } };
}
  ? FiltersOf<Query>
  : never;
type ChatQuery = NonNullable<
  PacketPaths['/chat/query']['post']['requestBody']
>['content']['application/json'];

/** The filters of an operation: a table that lacks one of the definition, or has another, does not compile. */
function names<Name extends string>(all: Record<Name, true>): readonly Name[] {
  return Object.keys(all) as (keyof typeof all)[];
}

/** The filters of lists, in the order in which addresses have them, named as the services name them. */
export const PACKET_FILTERS = names<Query<PacketPaths, '/packets'>>({
  type: true,
  geoid: true,
  from: true,
  to: true,
  made_from: true,
  made_to: true,
  bbox: true,
  near: true,
});
export const TILE_FILTERS = names<Query<PacketPaths, '/tiles/observations/{z}/{x}/{y}.mvt'>>({
  type: true,
  geoid: true,
  from: true,
  to: true,
  field: true,
  text: true,
});
export const CHAT_FILTERS = names<FiltersOf<ChatQuery>>({ keyword: true, geoid: true, from: true, to: true });
export const AUDIT_FILTERS = names<Query<TracePaths, '/api/audit/list'>>({
  user: true,
  userId: true,
  part: true,
  action: true,
  entity: true,
  entityId: true,
  from: true,
  to: true,
});

/** The filters that are set in an address, without empty ones. */
export function chosenOf<Name extends string>(
  query: URLSearchParams,
  filters: readonly Name[],
): Partial<Record<Name, string>> {
  const chosen = filters.map(name => [name, query.get(name) ?? ''] as const);
  return Object.fromEntries(chosen.filter(([, value]) => value !== '')) as Partial<Record<Name, string>>;
}
