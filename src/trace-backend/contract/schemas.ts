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

/**
 * The query of a list.
 *
 * @param sortable what it can be sorted by, the default first
 * @param filters its further parameters
 */
export function listQuery<const Sortable extends string, Filters extends Record<string, TSchema>>(
  sortable: [Sortable, ...Sortable[]],
  filters: Filters,
) {
  const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
  return Type.Object({
    limit: optional(
      Type.Integer({ minimum: 1, maximum: 500, default: DEFAULT_LIMIT, description: 'items, at most' }),
    ),
    offset: optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'items left out before' }),
    ),
    sortBy: optional(
      Type.Enum(sortable, { default: sortable[0], description: 'what the list is ordered by' }),
    ),
    sort: optional(Type.Enum(['ASC', 'DESC'], { default: 'DESC', description: 'which way' })),
    ...filters,
  });
}

/** Which part of a list is asked for, in which order. */
export interface Page<Sortable extends string = string> {
  limit: number;
  offset: number;
  sortBy: Sortable;
  sort: 'ASC' | 'DESC';
}

/** A query with what it left out. */
export function pageOf<Sortable extends string>(
  query: Partial<Page<Sortable>>,
  sortBy: NoInfer<Sortable>,
): Page<Sortable> {
  return {
    limit: query.limit ?? DEFAULT_LIMIT,
    offset: query.offset ?? 0,
    sortBy: query.sortBy ?? sortBy,
    sort: query.sort ?? 'DESC',
  };
}

/** A page of a list. */
export function listOf<Item extends TSchema>(item: Item) {
  return Type.Object({
    items: Type.Array(item),
    count: Type.Integer({ description: 'how many there are in all' }),
    offset: Type.Integer(),
    limit: Type.Integer(),
  });
}
