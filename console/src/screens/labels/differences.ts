import { COLOURS, PICTURES } from '../products/consumer-page/consumer.ts';
import { describeChange, type Part, partsOf } from '../products/history/history.ts';
import { SHOWN } from './label.ts';

/** A difference between a label and its product. */
export interface Difference {
  name: string;
  label?: unknown;
  product?: unknown;
  isNewer: boolean;
}

/** One side of a difference, as people can read it. */
export interface Side {
  /** a picture, by its storage key */
  picture?: string;
  colour?: string;
  /** entries of a list */
  count?: number;
  /** each line is a value, or those of an entry, of which `above` is the path */
  lines: { above: string; parts: Part[] }[];
}

const LOOK = 'businessToCustomerSettings';
const SHOWN_PICTURES = new Set(['photo', 'company.logo', ...PICTURES.map(name => `${LOOK}.${name}`)]);
const SHOWN_COLOURS = new Set(COLOURS.map(name => `${LOOK}.${name}`));

/** Both sides of a difference: of lists, the entries that only one of them has. */
export function sidesOf({ name, label, product }: Difference): { label: Side; product: Side } {
  const isChoice = typeof (label ?? product) === 'boolean';
  // An unticked box has no value.
  const [own, current] = isChoice ? [label ?? false, product ?? false] : [label, product];
  const described = describeChange({ path: name, before: own, after: current });
  const isList = Array.isArray(own ?? current);
  const side = (value: unknown, parts: Part[]): Side => ({
    ...pictureIn(name, value),
    ...(SHOWN_COLOURS.has(name) && typeof value === 'string' && { colour: value }),
    ...(isList && { count: Array.isArray(value) ? value.length : 0 }),
    lines: isList
      ? entriesOf(name, parts)
      : partsOf(name, value).map(part => ({ above: name, parts: [part] })),
  });
  return { label: side(own, described.before), product: side(current, described.after) };
}

function pictureIn(name: string, value: unknown): { picture?: string } {
  const { storageKey } = (value ?? {}) as { storageKey?: unknown };
  return SHOWN_PICTURES.has(name) && typeof storageKey === 'string' ? { picture: storageKey } : {};
}

/** The values of a list, entry by entry. */
function entriesOf(name: string, parts: readonly Part[]): Side['lines'] {
  const entries = new Map<string, Part[]>();
  for (const part of parts) {
    const index = part.path.slice(name.length + 1).split('.')[0] ?? '';
    const above = `${name}.${index}`;
    entries.set(above, [...(entries.get(above) ?? []), part]);
  }
  return [...entries].map(([above, inside]) => ({ above, parts: inside }));
}

/** The message by which the form of a label calls what differs; undefined for what it does not name. */
export function formKeyOf(name: string): string | undefined {
  const part = name === 'origin.locations' ? 'origin' : name;
  if (SHOWN.includes(part)) return `labels.part.${part.replaceAll('.', '-')}`;
  return name === 'origin.text' ? 'labels.text.origin-text' : undefined;
}

/** The tab whose place among the tabs a difference is, such as Quality. */
export function tabOf(name: string): string | undefined {
  return new RegExp(`^${LOOK}\\.order(\\w+)$`).exec(name)?.[1];
}
