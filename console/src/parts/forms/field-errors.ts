import { Failure, type Fault } from '../../api/failure.ts';

/**
 * What is wrong in a failed request by the names of a form's fields.
 *
 * @returns also what belongs to no field of the form
 */
export function fieldErrors(
  failure: unknown,
  names: ReadonlySet<string>,
): { fields: Record<string, Fault | string>; rest: (Fault | string)[] } {
  if (!(failure instanceof Failure)) return { fields: {}, rest: [] };
  const placed = Object.entries(failure.fields).map(([path, fault]) => ({
    name: nearest(path, names),
    fault,
  }));
  return {
    fields: Object.fromEntries(
      placed.flatMap(({ name, fault }) => (name === undefined ? [] : [[name, fault]])).reverse(),
    ),
    rest: [...placed.flatMap(({ name, fault }) => (name === undefined ? [fault] : [])), ...failure.further],
  };
}

/** The field of a path: of that name, inside what the path names, or around it. */
function nearest(path: string, names: ReadonlySet<string>): string | undefined {
  if (names.has(path)) return path;
  const all = [...names];
  return all.find(name => name.startsWith(`${path}.`)) ?? all.find(name => path.startsWith(`${name}.`));
}
