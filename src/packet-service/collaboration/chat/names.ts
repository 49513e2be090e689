import type { FindNames } from '../../../platform/tokens/user-registry.ts';
import type { Caller } from '../../core/access/caller.ts';

/** The name of the user of a row, where it is known. */
export interface Named {
  userName?: string | undefined;
}

/** The parameters of a request about names. */
type NamesRequest = Pick<Caller, 'user'> & { query: { details?: 'true' | 'false' } };

/**
 * Adds the names of users to rows, if the request asks for details with a token: without one, anybody can ask for the
 * threads of anybody.
 *
 * @param userOf the user of a row; undefined where nobody is to be named
 */
export async function named<Row>(
  findNames: FindNames,
  { user, query }: NamesRequest,
  userOf: (row: Row) => string | undefined,
  rows: Row[],
): Promise<(Row & Named)[]> {
  if (query.details !== 'true' || user === undefined) return rows as (Row & Named)[];
  const ids = rows.map(userOf).filter(id => id !== undefined);
  const names = await findNames([...new Set(ids)]);
  return rows.map(row => ({ ...row, userName: names.get(userOf(row) ?? '') }));
}

/** `named` for the batches of a list. */
export async function* withNames<Row>(
  findNames: FindNames,
  request: NamesRequest,
  userOf: (row: Row) => string | undefined,
  batches: AsyncGenerator<Row[]>,
): AsyncGenerator<(Row & Named)[]> {
  for await (const rows of batches) yield await named(findNames, request, userOf, rows);
}
