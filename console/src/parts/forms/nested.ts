/** The values of a form by their paths, such as headquarters.city. */
export type Values = Record<string, string | boolean>;

/** The value at a path of a record; undefined if there is none. */
export function valueAt(record: unknown, path: string): unknown {
  let value = record;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** A value as a field shows it: "" where there is none. */
export function textOf(value: unknown): string {
  return value == null ? '' : String(value);
}

/** The values of a record at these paths, as a form shows them: "" where there is none. */
export function valuesOf(record: unknown, paths: readonly string[]): Values {
  return Object.fromEntries(
    paths.map(path => {
      const value = valueAt(record, path);
      return [path, typeof value === 'boolean' ? value : textOf(value)];
    }),
  );
}

/** The values that differ from those before: only they are sent, so that a change has no other effect. */
export function changedValues(values: Values, before: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([path, value]) => value !== (before[path] ?? '')));
}

/** Whether two values have the same JSON. */
export function isSame(first: unknown, second: unknown): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}

/** The record that values make: { "a.b": 1 } makes { a: { b: 1 } }. */
export function nested(values: Record<string, unknown>): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.');
    const last = names.pop() as string;
    let at = record;
    for (const name of names) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return record;
}

/** A record without what is empty in it. */
export function withoutEmpty(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '' && value != null));
}
