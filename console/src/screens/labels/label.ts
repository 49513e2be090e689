import type { components } from '../../api/generated/trace-backend.d.ts';
import { changedValues, nested, type Values, valueAt, valuesOf } from '../../parts/forms/nested.ts';
import { GROUPS } from '../products/product.ts';
import type { Pin } from './origin-view.ts';

type Owner = components['schemas']['LabelContent']['company'];

/**
 * How the page of a label shows the fields that it copies from the owner of the product, in its order. A table that
 * lacks a field of the definition does not compile.
 */
const OWNER: Record<Exclude<keyof Owner & string, 'id'>, 'text' | 'picture' | 'hidden'> = {
  name: 'text',
  logo: 'picture',
  about: 'text',
  manager: 'text',
  email: 'text',
  phone: 'text',
  webPage: 'text',
  abbreviation: 'hidden',
  headquarters: 'hidden',
  mediaLinks: 'hidden',
  interview: 'hidden',
};

/** The paths of the owner's fields that the page shows in these ways. */
const ofOwner = (...ways: string[]) =>
  Object.entries(OWNER).flatMap(([name, way]) => (ways.includes(way) ? [`company.${name}`] : []));

/** The parts of its content that a label can show, in the order of its page. */
export const SHOWN: readonly string[] = [
  ...['name', 'photo', 'description', 'origin', 'journeyMarkers'],
  ...GROUPS.story.filter(path => path !== 'origin.text'),
  ...ofOwner('text', 'picture'),
  'company.certifications',
];

/** The paths of the texts that a label copies from the product and then changes on its own. */
export const TEXTS: readonly string[] = ['name', 'description', ...GROUPS.story, ...ofOwner('text')];

/** Languages of labels. */
const LABEL_LANGUAGES = ['EN', 'DE', 'ES', 'RW', 'FR', 'SW'] as const;

/** A field of a label, as the service has it. */
export interface LabelField {
  name?: string | null;
  section?: string | null;
  visible?: boolean | null;
  value?: unknown;
}

/** The entries of the form of a label. */
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

const CERTIFICATIONS = 'company.certifications';
/** Parts that the page shows in its heading, as pictures, or at its end. */
const NOT_LISTED: readonly string[] = ['name', 'photo', 'company.name', 'company.logo', CERTIFICATIONS];
/** Where the content has the places of a part. */
const PLACES: Partial<Record<string, string>> = {
  origin: 'origin.locations',
  journeyMarkers: 'journeyMarkers',
};
/** Kinds of documents that the page shows, in its order. */
const CATEGORIES = ['VIDEO', 'MEET_THE_FARMER', 'PRODUCTION_RECORD'] as const;

/** A document of the owner, and whether the label shows it. */
export interface ShownDocument {
  category?: string | undefined;
  name?: string | undefined;
  link?: string | undefined;
  document?: { name?: string | null } | undefined;
  active: boolean;
}

/** Whether a document is shown if it is chosen: it is of a kind, and a video is somewhere. */
export function isShowable({ category, link }: Pick<ShownDocument, 'category' | 'link'>): boolean {
  return category === 'VIDEO' ? Boolean(link) : Boolean(category);
}

/** The names of the documents that the page lists. */
function documentNames(documents: readonly ShownDocument[]): string[] {
  const shown = documents.filter(document => document.active && isShowable(document));
  return CATEGORIES.flatMap(kind => shown.filter(({ category }) => category === kind)).flatMap(
    ({ name, document, link }) => name || document?.name || link || [],
  );
}

/** A certification of the owner. */
export interface Certification {
  type?: string | undefined;
  description?: string | undefined;
  validity?: string | undefined;
  certificate?: { name?: string | null } | undefined;
}

/**
 * The certifications that the page lists: those that are valid.
 *
 * @param until "valid until" in the language of the label
 */
function certificationTexts(
  certifications: readonly Certification[],
  { language }: LabelForm,
  until: string,
): string[] {
  const today = new Date().toISOString().slice(0, 10);
  return certifications.flatMap(({ type, description, validity = '', certificate }) => {
    const day = /^\d{4}-\d{2}-\d{2}(?![^T])/.exec(validity)?.[0];
    const name = [type, description].filter(Boolean).join(', ') || certificate?.name;
    if (!name || (day !== undefined && day < today)) return [];
    const end = day === undefined ? validity : `${until} ${longDate(day, language)}`;
    return [[name, end].filter(Boolean).join(', ')];
  });
}

function longDate(day: string, language: string): string {
  const own = /^[a-z]{2,3}(?=-|$)/i.exec(language)?.[0] ?? 'en';
  const supported = Intl.DateTimeFormat.supportedLocalesOf([own, 'en-GB']);
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  return new Intl.DateTimeFormat(supported, { dateStyle: 'long', timeZone: 'UTC' }).format(date);
}

/** The data of its owner that a label shows besides its own content. */
interface OfOwner {
  documents?: readonly ShownDocument[];
  certifications?: readonly Certification[];
  /** "valid until" in the language of the label */
  until?: string;
}

/** The visible parts of a label while it is edited, in the order of its page. */
export function previewOf(
  form: LabelForm,
  content: object,
  { documents = [], certifications = [], until = '' }: OfOwner = {},
) {
  const { title, visible, texts, language } = form;
  const picture = (path: string) =>
    visible[path] ? (valueAt(content, `${path}.storageKey`) as string | undefined) : undefined;
  const text = (name: string) => String(texts[name === 'origin' ? 'origin.text' : name] ?? '');
  const shownText = (name: string) => (visible[name] ? text(name) : '');
  const placesOf = (part: string) =>
    (valueAt(content, PLACES[part] ?? '') as Place[] | undefined)?.filter(Boolean) ?? [];
  const listed = documentNames(documents);
  const certified = visible[CERTIFICATIONS] ? certificationTexts(certifications, form, until) : [];
  const name = shownText('name') || title;
  return {
    heading: title || name,
    by: [name === title ? '' : name, shownText('company.name')].filter(part => part !== '').join(' · '),
    photo: picture('photo'),
    logo: picture('company.logo'),
    parts: [
      ...SHOWN.filter(part => visible[part] && !NOT_LISTED.includes(part)).flatMap(part => {
        const names = placesOf(part).map(place => placeText(place, language));
        const shown = [text(part), ...names].filter(line => line !== '');
        return shown.length === 0 ? [] : [{ name: part, texts: shown }];
      }),
      ...(listed.length === 0 ? [] : [{ name: 'documents', texts: listed }]),
      ...(certified.length === 0 ? [] : [{ name: CERTIFICATIONS, texts: certified }]),
    ],
    pins: visible.origin ? placesOf('origin').flatMap(pinOf) : [],
  };
}

/** A place of origin, as far as it is filled in. */
interface Place {
  pinName?: string | null;
  countryCode?: string | null;
  latitude?: number | null;
  longitude?: number | null;
}

/** A place with its country, as the page of a label has it: by its name, or else by its position. */
function placeText(place: Place, language: string): string {
  const { pinName, countryCode } = place;
  return [pinName || pinOf(place)[0]?.name, countryCode ? countryName(countryCode, language) : '']
    .filter(Boolean)
    .join(', ');
}

/** Where a place is on the map; nothing if it has no position. */
function pinOf({ pinName, latitude, longitude }: Place): Pin[] {
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return [];
  return [{ latitude, longitude, name: pinName || `${latitude}, ${longitude}` }];
}

function countryName(code: string, language: string): string {
  // Not every tag that a label may have is one that Intl takes; these are.
  const own = /^[a-z]{2,3}(?=-|$)/i.exec(language)?.[0] ?? 'en';
  for (const supported of Intl.DisplayNames.supportedLocalesOf([own, 'en'])) {
    const name = new Intl.DisplayNames(supported, { type: 'region', fallback: 'none' }).of(code);
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
