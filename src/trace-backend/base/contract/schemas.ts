import type { Static, TSchema } from 'typebox';
import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';

/** Pattern of texts that PostgreSQL can store, those without U+0000. For queries: the parser checks bodies. */
export const NO_NUL = '^[^\\u0000]*$';

const MAX_ID = 2_147_483_647;

/** An id in a request: a number or a numeric string. */
export const Id = named(
  'Id',
  Type.Union(
    [
      Type.Integer({ minimum: 1, maximum: MAX_ID, title: 'a whole number' }),
      Type.String({ pattern: '^[1-9][0-9]{0,9}$', title: 'a whole number as a string' }),
    ],
    { description: 'id, as a number or as a numeric string', examples: [7] },
  ),
);

/** The number of an id. Numbers beyond the range of the database are not found. */
export function idOf(id: Static<typeof Id>): number {
  return Math.min(Number(id), MAX_ID);
}

/** An id in a path. Any text is accepted; one that is no number is not found. */
export const PathId = Type.String({ minLength: 1, maxLength: 20, description: 'id', examples: ['7'] });

/** The number of an id in a path; 0, which no record has, if it is not a number. */
export function pathIdOf(id: string): number {
  return /^[1-9][0-9]{0,9}$/.test(id) ? idOf(id) : 0;
}

/** Maximum number of ids in one query parameter. */
const IDS_AT_ONCE = 100;
const ID_LIST = '^[1-9][0-9]{0,9}(,[1-9][0-9]{0,9}){0,99}$';

/** Several ids as a query parameter: separated by commas, or the parameter repeated. */
export const QueryIds = Type.Union(
  [
    Type.String({ pattern: ID_LIST, maxLength: 11 * IDS_AT_ONCE, title: 'ids, separated by commas' }),
    Type.Array(Id, {
      maxItems: IDS_AT_ONCE,
      title: 'a list of ids',
    }),
  ],
  {
    description: `at most ${IDS_AT_ONCE} ids, separated by commas or as repeated parameters`,
    examples: ['7,9'],
  },
);

/** The numbers of the ids of a query parameter. */
export function queryIdsOf(ids: Static<typeof QueryIds>): number[] {
  return (typeof ids === 'string' ? ids.split(',') : ids).map(idOf);
}

export const DateTime = Type.String({ description: 'ISO 8601, UTC', examples: ['2026-03-01T08:15:00.000Z'] });

const DEFAULT_LIMIT = 100;

/** Maximum items per page; larger limits are reduced to this. */
const MAX_LIMIT = 1000;

/** The defaults of a list. */
interface ListDefaults {
  limit: number;
  sort: 'ASC' | 'DESC';
}
const DEFAULTS: ListDefaults = { limit: DEFAULT_LIMIT, sort: 'DESC' };

/**
 * The query of a list.
 *
 * @param sortable fields that it can be sorted by, the default first
 * @param filters additional parameters
 */
export function listQuery<Filters extends Record<string, TSchema>>(
  sortable: readonly [string, ...string[]],
  filters: Filters,
  { limit, sort }: ListDefaults = DEFAULTS,
) {
  const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
  return Type.Object({
    limit: optional(
      Type.Integer({
        minimum: 1,
        default: limit,
        description: `maximum number of items; values above ${MAX_LIMIT} mean ${MAX_LIMIT}`,
      }),
    ),
    offset: optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'items to skip' }),
    ),
    sortBy: optional(
      Type.String({
        maxLength: 100,
        default: sortable[0],
        description: `field to sort by: ${sortable.join(', ')}; anything else means ${sortable[0]}`,
      }),
    ),
    sort: optional(Type.Enum(['ASC', 'DESC'], { default: sort, description: 'direction' })),
    requestType: optional(
      Type.Enum(['COUNT', 'FETCH'], {
        description: 'COUNT: only the exact count; FETCH: only the items; by default both',
      }),
    ),
    ...filters,
  });
}

/** The parameter of lists with keyset pagination: pages far down cost no more than the first. */
export const AFTER = {
  after: Type.Optional({
    ...Id,
    description: 'id of the last item of the previous page; returns the items after it, without a count',
  } as typeof Id),
};

/** The requested part of a list, and its order. */
export interface Page<Sortable extends string = string> {
  limit: number;
  offset: number;
  sortBy: Sortable;
  sort: 'ASC' | 'DESC';
  /** which half of the answer; both by default */
  requestType?: 'COUNT' | 'FETCH' | undefined;
  /** id of an item: the page begins after it */
  after?: number | undefined;
}

/** A query with defaults. */
export function pageOf<Sortable extends string>(
  query: Partial<Omit<Page, 'after'>> & { after?: Static<typeof Id> },
  sortable: readonly [Sortable, ...Sortable[]],
  { limit, sort }: ListDefaults = DEFAULTS,
): Page<Sortable> {
  return {
    limit: Math.min(query.limit ?? limit, MAX_LIMIT),
    offset: query.offset ?? 0,
    sortBy: sortable.find(name => name === query.sortBy) ?? sortable[0],
    sort: query.sort ?? sort,
    requestType: query.requestType ?? (query.after === undefined ? undefined : 'FETCH'),
    ...(query.after !== undefined && { after: idOf(query.after) }),
  };
}

/**
 * The filters `query` and `name` of a list, which select items by a part of a text; `searchTextOf` reads them.
 *
 * @param description of the texts that are searched
 */
export function searchFilters(description: string) {
  const filter = (text: string) =>
    Type.Optional(Type.String({ maxLength: 255, pattern: NO_NUL, description: text }));
  return { query: filter(description), name: filter('like query, which takes precedence') };
}

/** The search text of a list's query; undefined if there is none. */
export function searchTextOf({ query, name }: { query?: string; name?: string }): string | undefined {
  return query ?? name;
}

/** A page of a list. */
export function listOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Optional(Type.Array(item, { description: 'absent with requestType=COUNT' })),
    count: Type.Optional(
      Type.Integer({
        description:
          'total number: exact up to 10,000 or with requestType=COUNT, otherwise an estimate, at least the end of this ' +
          'page; absent with requestType=FETCH',
      }),
    ),
    offset: Type.Integer(),
    limit: Type.Integer(),
  });
}

/** A page with the requested halves. */
export function listAnswer<Item>(
  { offset, limit, requestType }: Page,
  { items, count }: { items: Item[]; count: number },
): { items?: Item[]; count?: number; offset: number; limit: number } {
  return {
    ...(requestType !== 'COUNT' && { items }),
    ...(requestType !== 'FETCH' && { count }),
    offset,
    limit,
  };
}

/** The company in examples; the documentation page replaces it by a company that it has created. */
export const EXAMPLE_COMPANY = '1001';
