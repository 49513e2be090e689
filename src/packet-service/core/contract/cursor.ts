import { Problem } from '../../../platform/http/problems.ts';
import { parseUlid } from '../packet-format/ulid.ts';

/**
 * The id in a page's `cursor`, in the uuid form.
 *
 * @throws Problem invalid when it is no ULID
 */
export function readCursor(cursor: string): string {
  const id = parseUlid(cursor);
  if (!id) throw badCursor();
  return id;
}

/**
 * The position of a page's `cursor` in the order of its list; undefined without a cursor.
 *
 * @param find looks up the position of an id in the uuid form
 * @throws Problem invalid when nothing in the list has that id
 */
export async function positionOf<Position>(
  cursor: string | undefined,
  find: (id: string) => Promise<Position | undefined>,
): Promise<Position | undefined> {
  if (!cursor) return undefined;
  const position = await find(readCursor(cursor));
  if (!position) throw badCursor();
  return position;
}

function badCursor(): Problem {
  return new Problem('validation.unknown_cursor', { field: 'cursor' });
}
