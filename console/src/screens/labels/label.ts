import { changedValues, nested, type Values, valueAt, valuesOf } from '../../parts/nested.ts';

/** What a label can show of its content, in the order of its page. */
export const SHOWN = [
  ...['name', 'photo', 'description', 'origin', 'journeyMarkers', 'process.production'],
  ...['responsibility.laborPolicies', 'sustainability.production', 'sustainability.packaging'],
  ...['sustainability.co2Footprint', 'company.name', 'company.logo', 'company.about', 'company.manager'],
  ...['company.email', 'company.phone', 'company.webPage'],
] as const;

/** The texts of a label that are its own, by their paths: copied from the product, then changed by themselves. */
export const TEXTS = [
  ...['name', 'description', 'origin.text', 'process.production', 'responsibility.laborPolicies'],
  ...['sustainability.production', 'sustainability.packaging', 'sustainability.co2Footprint'],
  ...[
    'company.name',
    'company.about',
    'company.manager',
    'company.email',
    'company.phone',
    'company.webPage',
  ],
] as const;

/** Languages of labels. */
export const LABEL_LANGUAGES = ['EN', 'DE', 'ES', 'RW', 'FR', 'SW'] as const;

/** A field of a label, as the service has it. */
export interface LabelField {
  name?: string | null;
  section?: string | null;
  visible?: boolean | null;
  value?: unknown;
}

/** What the form of a label holds. */
export interface LabelForm {
  title: string;
  language: string;
  /** whether each part is shown, by its name */
  visible: Record<string, boolean>;
  texts: Values;
}

interface Label {
  title?: string;
  language?: string;
  fields: LabelField[];
}

/** The form of a label and its content. */
export function formOf({ title = '', language = 'EN', fields }: Label, content: object): LabelForm {
  const visible = new Map(fields.map(field => [field.name, field.visible === true]));
  return {
    title,
    language,
    visible: Object.fromEntries(SHOWN.map(name => [name, visible.get(name) ?? false])),
    texts: valuesOf(content, TEXTS),
  };
}

/** The fields that a form makes; those that it does not know stay as they are. */
export function fieldsOf(
  { visible }: Pick<LabelForm, 'visible'>,
  before: readonly LabelField[],
): LabelField[] {
  const others = before.filter(({ name }) => !Object.hasOwn(visible, name ?? ''));
  return [
    ...SHOWN.map(name => ({ name, section: sectionOf(name), visible: visible[name] === true })),
    ...others,
  ];
}

function sectionOf(name: string): string {
  return name.includes('.') ? (name.split('.')[0] as string) : 'product';
}

/** The content that a form makes of what has changed. */
export function contentOf({ texts }: Pick<LabelForm, 'texts'>, before: object): object {
  return nested(changedValues(texts, valuesOf(before, TEXTS)));
}

/** What people see of a label, while it is edited: texts by their names, and its pictures. */
export function previewOf({ visible, texts, language }: LabelForm, content: object) {
  const picture = (path: string) =>
    visible[path] ? (valueAt(content, `${path}.storageKey`) as string | undefined) : undefined;
  const text = (name: string) => String(texts[name === 'origin' ? 'origin.text' : name] ?? '');
  const pins = (valueAt(content, 'origin.locations') as Pin[] | undefined) ?? [];
  return {
    photo: picture('photo'),
    logo: picture('company.logo'),
    texts: SHOWN.filter(name => visible[name] && text(name) !== '').map(name => ({ name, text: text(name) })),
    pins: visible.origin ? pins.map(pin => pinText(pin, language)).filter(text => text !== '') : [],
  };
}

/** A place of origin, as far as it is filled in. */
interface Pin {
  pinName?: string | null;
  countryCode?: string | null;
  latitude?: number | null;
  longitude?: number | null;
}

/** A place with its country, as the page of a label has it: by its name, or else by its position. */
function pinText({ pinName, countryCode, latitude, longitude }: Pin, language: string): string {
  const isPlaced = typeof latitude === 'number' && typeof longitude === 'number';
  const place = pinName || (isPlaced ? `${latitude}, ${longitude}` : '');
  return [place, countryCode ? countryName(countryCode, language) : '']
    .filter(part => part !== '')
    .join(', ');
}

function countryName(code: string, language: string): string {
  // Not every tag that a label may have is one that Intl takes; these are.
  const own = /^[a-z]{2,3}(?=-|$)/i.exec(language)?.[0] ?? 'en';
  for (const known of Intl.DisplayNames.supportedLocalesOf([own, 'en'])) {
    const name = new Intl.DisplayNames(known, { type: 'region', fallback: 'none' }).of(code);
    if (name !== undefined) return name;
  }
  return code;
}

/** The languages that a label is offered in, by their names in the reader's. */
export function languageChoices(
  locales: readonly string[],
  more: readonly string[] = [],
): { value: string; label: string }[] {
  const names = new Intl.DisplayNames([...locales], { type: 'language' });
  return [...new Set<string>([...LABEL_LANGUAGES, ...more])].map(value => ({
    value,
    label: /^[a-z]{2,3}$/i.test(value) ? (names.of(value.toLowerCase()) ?? value) : value,
  }));
}

/** Whether only the computer itself can open an address: its host is a loopback address, or none (0.0.0.0, ::). */
export function opensOnlyHere(url: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(new URL(url).hostname);
}
