import { isSame, textOf } from './nested.ts';

/** A value that two people have changed in different ways. */
export interface Conflict {
  /** as errors of the service name the field */
  path: string;
  /** what the other one wrote, if it is a word; undefined for lists and files */
  theirs: string | undefined;
}

interface Merged<Form> {
  form: Form;
  conflicts: Conflict[];
}

/**
 * A form with both changes of one record: what its user has changed stays as they have left it, all else becomes as
 * it is stored now. A list counts as one value, because its entries have no identity.
 *
 * @param before the form as it was loaded
 * @param mine what its user has made of it
 * @param theirs the form of the record as it is stored now
 */
export function merged<Form extends object>(before: Form, mine: Form, theirs: Form): Merged<Form> {
  const conflicts: Conflict[] = [];
  return { form: mergedValue({ before, mine, theirs }, [], conflicts) as Form, conflicts };
}

/** The parts of a form that hold values by the paths of their fields. */
const BY_PATH = ['values', 'texts', 'files'];

type Three = Record<'before' | 'mine' | 'theirs', unknown>;

function mergedValue({ before, mine, theirs }: Three, path: string[], conflicts: Conflict[]): unknown {
  if (isSame(mine, before) || isSame(mine, theirs)) return theirs;
  if (isSame(theirs, before)) return mine;
  if (isRecord(before) && isRecord(mine) && isRecord(theirs)) {
    const names = [...new Set([before, mine, theirs].flatMap(Object.keys))];
    const entries = names.map(name => {
      const three = { before: before[name], mine: mine[name], theirs: theirs[name] };
      return [name, mergedValue(three, [...path, name], conflicts)] as const;
    });
    return Object.fromEntries(entries);
  }
  const isWord = typeof theirs !== 'object' && theirs !== undefined;
  conflicts.push({
    // Forms keep the values of plain fields by their paths.
    path: path.filter(name => !BY_PATH.includes(name)).join('.'),
    theirs: isWord ? textOf(theirs) : undefined,
  });
  return mine;
}

/** Whether it is a record of fields: a stored file is one value. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !Object.hasOwn(value, 'storageKey')
  );
}
