import { Failure } from '../../api/failure.ts';

/**
 * The errors of a failed request by the names of a form's fields. The packet service names the field at the beginning of
 * its sentence.
 *
 * @returns also what belongs to no field of the form
 */
export function fieldErrors(
  failure: unknown,
  names: ReadonlySet<string>,
): { fields: Record<string, string>; rest: string[] } {
  if (!(failure instanceof Failure)) return { fields: {}, rest: [] };
  const given = Object.entries(failure.fields);
  if (given.length === 0) {
    const [first = ''] = failure.message.split(' ', 1);
    if (failure.status === 400 && names.has(first)) return { fields: { [first]: failure.message }, rest: [] };
  }
  const placed = given.map(([path, text]) => ({ name: nearest(path, names), text }));
  return {
    fields: Object.fromEntries(
      placed.flatMap(({ name, text }) => (name === undefined ? [] : [[name, text]])).reverse(),
    ),
    rest: placed.flatMap(({ name, text }) => (name === undefined ? [text] : [])),
  };
}

/** The field of a path: of that name, inside what the path names, or around it. */
function nearest(path: string, names: ReadonlySet<string>): string | undefined {
  if (names.has(path)) return path;
  const all = [...names];
  return all.find(name => name.startsWith(`${path}.`)) ?? all.find(name => path.startsWith(`${name}.`));
}
