import type { Database } from '../../../../platform/database/database.ts';
import { cutByBytes } from '../../../../platform/http/streamed-text.ts';
import type { Page } from '../../../base/contract/schemas.ts';
import { listAnswer } from '../../../base/contract/schemas.ts';
import { findUsers } from '../../../identity/users/store.ts';
import { findValues, type StoredChange } from './changes-store.ts';

/**
 * A page of changes in its envelope. Values are read part by part, because a thousand changes may have a gigabyte.
 *
 * @param count total number of changes
 */
export async function* historyInParts(
  database: Database,
  page: Page,
  changes: readonly StoredChange[],
  count: number,
): AsyncGenerator<string> {
  const users = await findUsers(database, [...new Set(changes.map(({ userId }) => userId))]);
  const names = new Map(users.map(user => [user?.id, user]));
  yield '{"status":"OK","data":{"items":[';
  let before = '';
  for (const part of cutByBytes(changes, ({ bytes }) => bytes)) {
    yield before + (await textOf(database, part, names));
    before = ',';
  }
  const { items: _, ...rest } = listAnswer(page, { items: [], count });
  yield `],${JSON.stringify(rest).slice(1)}}`;
}

/** A separate function, because variables of a generator stay in memory while a client reads. */
async function textOf(
  database: Database,
  part: readonly StoredChange[],
  names: ReadonlyMap<number | undefined, { name: string; surname: string } | undefined>,
): Promise<string> {
  const values = await findValues(
    database,
    part.map(({ id }) => id),
  );
  const items = part.map(({ id, at, version, userId, path }) => {
    const { name = '', surname = '' } = names.get(userId) ?? {};
    const user = { id: userId, name, surname };
    const change = JSON.stringify({ id, at: at.toISOString(), version, user, path });
    return withValues(change, values.get(id));
  });
  return items.join(',');
}

/** The stored values are inserted unchanged; null means no value. */
function withValues(
  change: string,
  values: { before: string | null; after: string | null } | undefined,
): string {
  const { before, after } = values ?? {};
  const member = (name: string, text: string | null | undefined) =>
    text && text !== 'null' ? `,"${name}":${text}` : '';
  return `${change.slice(0, -1)}${member('before', before)}${member('after', after)}}`;
}
