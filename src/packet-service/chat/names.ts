import type { FindNames } from '../../platform/tokens/user-registry.ts';
import type { Caller } from '../access/caller.ts';

/** The name of the user of a row, where it is known. */
export interface Named {
  userName?: string | undefined;
}

/** What a request of a list says about names. */
type Asked = Pick<Caller, 'user'> & { query: { details?: 'true' | 'false' } };

/**
 * Adds the names of users to the rows of a list, if the request asks for details with a token: without one, anybody can
 * ask for the threads of anybody.
 *
 * @param userOf the user of a row; undefined where nobody is to be named
 */
export async function* withNames<Row>(
  findNames: FindNames,
  { user, query }: Asked,
  userOf: (row: Row) => string | undefined,
  batches: AsyncGenerator<Row[]>,
): AsyncGenerator<(Row & Named)[]> {
  if (query.details !== 'true' || user === undefined) {
    for await (const rows of batches) yield rows as (Row & Named)[];
    return;
  }
  for await (const rows of batches) {
    const ids = rows.map(userOf).filter(id => id !== undefined);
    const names = await findNames([...new Set(ids)]);
    yield rows.map(row => ({ ...row, userName: names.get(userOf(row) ?? '') }));
  }
}
