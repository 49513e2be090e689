import { type Static, type TSchema, Type } from 'typebox';

/** Pattern of a text that PostgreSQL can hold: all but U+0000. Bodies are read so; a query may still bring it. */
export const NO_NUL = '^[^\\u0000]*$';

const MAX_ID = 2_147_483_647;

/** An id in a request: a number, or the same as a string. */
export const Id = Type.Union(
  [
    Type.Integer({ minimum: 1, maximum: MAX_ID, title: 'a whole number' }),
    Type.String({ pattern: '^[1-9][0-9]{0,9}$', title: 'a whole number as a string' }),
  ],
  { description: 'id, as a number or as a numeric string', examples: [7] },
);

/** The number that an id stands for. Larger ones than the database holds name nothing, and stay so. */
export function idOf(id: Static<typeof Id>): number {
  return Math.min(Number(id), MAX_ID);
}

/** An id in a path: any text is taken, because one that is no number names nothing and is simply not found. */
export const PathId = Type.String({ minLength: 1, maxLength: 20, description: 'id', examples: ['7'] });

/** The number that a path's id stands for; 0, which nothing has, when it is none. */
export function pathIdOf(id: string): number {
  return /^[1-9][0-9]{0,9}$/.test(id) ? idOf(id) : 0;
}

export const DateTime = Type.String({ description: 'ISO 8601, UTC', examples: ['2026-03-01T08:15:00.000Z'] });

const DEFAULT_LIMIT = 100;

/** Items of one page, at most; who asks for more gets as many. */
const MAX_LIMIT = 1000;

/** What a list does when its query does not say. */
interface ListDefaults {
  limit: number;
  sort: 'ASC' | 'DESC';
}
const DEFAULTS: ListDefaults = { limit: DEFAULT_LIMIT, sort: 'DESC' };

/**
 * The query of a list.
 *
 * @param sortable what it can be sorted by, the default first
 * @param filters its further parameters
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
        description: `items, at most; above ${MAX_LIMIT} it means ${MAX_LIMIT}`,
      }),
    ),
    offset: optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'items left out before' }),
    ),
    sortBy: optional(
      Type.String({
        maxLength: 100,
        default: sortable[0],
        description: `what the list is ordered by: ${sortable.join(', ')}; anything else means ${sortable[0]}`,
      }),
    ),
    sort: optional(Type.Enum(['ASC', 'DESC'], { default: sort, description: 'which way' })),
    requestType: optional(
      Type.Enum(['COUNT', 'FETCH'], {
        description: 'COUNT: only how many there are, exactly; FETCH: only the items; both without it',
      }),
    ),
    ...filters,
  });
}

/** Which part of a list is asked for, in which order. */
export interface Page<Sortable extends string = string> {
  limit: number;
  offset: number;
  sortBy: Sortable;
  sort: 'ASC' | 'DESC';
  /** which half of the answer; both without it */
  requestType?: 'COUNT' | 'FETCH' | undefined;
}

/** A query with what it left out. */
export function pageOf<Sortable extends string>(
  query: Partial<Page>,
  sortable: readonly [Sortable, ...Sortable[]],
  { limit, sort }: ListDefaults = DEFAULTS,
): Page<Sortable> {
  return {
    limit: Math.min(query.limit ?? limit, MAX_LIMIT),
    offset: query.offset ?? 0,
    sortBy: sortable.find(name => name === query.sortBy) ?? sortable[0],
    sort: query.sort ?? sort,
    requestType: query.requestType,
  };
}

/** A page of a list. */
export function listOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Optional(Type.Array(item, { description: 'absent with requestType=COUNT' })),
    count: Type.Optional(
      Type.Integer({
        description:
          'how many there are in all: exactly up to 10,000 or with requestType=COUNT, else about, and never fewer ' +
          'than up to the end of this page; absent with requestType=FETCH',
      }),
    ),
    offset: Type.Integer(),
    limit: Type.Integer(),
  });
}

/** A page as it is answered: the halves that were asked for. */
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
