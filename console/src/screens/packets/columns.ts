/** Fields of a Body with a place of their own. */
const DECLARED = new Set([
  'message',
  'text',
  'attachments',
  'capture_point',
  'geojson',
  'geoids',
  'thread_id',
  'from_user',
]);
/** Maximum fields that are offered as columns. */
const MAX_OFFERED = 60;
/** Maximum characters of a value in a cell. */
export const MAX_CELL = 120;

type Body = Readonly<Record<string, unknown>>;

/** The additional fields of packets, sorted by name. A name with a comma cannot be in an address. */
export function additionalFields(bodies: readonly Body[]): string[] {
  const names = new Set(bodies.flatMap(body => Object.keys(body)));
  return [...names]
    .filter(name => name !== '' && !DECLARED.has(name) && !name.includes(','))
    .sort()
    .slice(0, MAX_OFFERED);
}

/** The chosen columns of an address. */
export function chosenColumns(query: URLSearchParams): string[] {
  return [...new Set((query.get('columns') ?? '').split(',').filter(Boolean))];
}

/** Columns of the CSV file with names, where the list has them in place of ids. */
export const NAME_COLUMNS = ['field_name', 'author_name'] as const;

/** The chosen columns of names of an address. */
export function chosenNames(query: URLSearchParams): string[] {
  const chosen = (query.get('names') ?? '').split(',');
  return NAME_COLUMNS.filter(name => chosen.includes(name));
}

/** A value of a Body as text: what is not text is JSON. */
export function valueText(value: unknown, length = Number.POSITIVE_INFINITY): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

export const cellText = (body: Body, name: string): string =>
  valueText(Object.hasOwn(body, name) ? body[name] : undefined, MAX_CELL);

/** The additional fields of one packet, with their values as text. */
export function fieldsOf(body: Body): { name: string; text: string }[] {
  return Object.keys(body)
    .filter(name => !DECLARED.has(name))
    .sort()
    .map(name => ({ name, text: valueText(body[name]) }));
}
