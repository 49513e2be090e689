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
  return {
    fields: Object.fromEntries(given.filter(([name]) => names.has(name))),
    rest: given.filter(([name]) => !names.has(name)).map(([, text]) => text),
  };
}
