import { isDeepStrictEqual } from 'node:util';
import type { FieldChange } from './changes-store.ts';

/** Maximum changes listed individually; a version with more changes lists only top-level fields. */
const MAX_CHANGES = 1000;

/**
 * The differences between two states of a record: objects are compared by their fields, lists of the same length by their
 * items; a list that became longer or shorter is one change, because its items have no identity.
 */
export function changesBetween(before: object, after: object): FieldChange[] {
  const changes = differences(before, after, '', Number.POSITIVE_INFINITY);
  return changes.length <= MAX_CHANGES ? changes : differences(before, after, '', 1);
}

function differences(before: unknown, after: unknown, path: string, depth: number): FieldChange[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (depth === 0 || !isContainer(before) || !isContainer(after) || !sameShape(before, after)) {
    return [{ path, before, after }];
  }
  const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap(key =>
    differences(was.get(key), is.get(key), path === '' ? key : `${path}.${key}`, depth - 1),
  );
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function sameShape(before: object, after: object): boolean {
  return (
    Array.isArray(before) === Array.isArray(after) &&
    (!Array.isArray(before) || before.length === (after as []).length)
  );
}
