import { escaped, pageOf } from '../../../platform/http/page.ts';
import { isPath } from '../../catalogue/labels/values.ts';
import { styleOf } from './colour.ts';
import { type AskedBatch, batchSection } from './forms/batch-form.ts';
import { type AskedFeedback, feedbackSection } from './forms/feedback-form.ts';
import { FORM_STYLE } from './forms/fields.ts';
import { originMap, type Pin } from './origin-map.ts';
import type { PublicLabel } from './schemas.ts';
import { termOf } from './terms.ts';
import { certificationText, documentText, htmlOf, linked, type Text } from './texts.ts';

/** A field as the page shows it. */
interface Shown {
  section: string;
  /** its heading */
  term: string | undefined;
  texts: Text[];
  /** whether the texts have an order */
  isOrdered?: boolean;
  /** SVG of where it is */
  map?: string;
}

/** What a visitor asked with the forms of a label's page. */
export interface Asked {
  batch?: AskedBatch;
  feedback?: AskedFeedback;
  /** whether the address of the page is one below that of the label's page, or beside it with one name more */
  isDeeper?: boolean;
}

/**
 * A label as a page for phones, with headings and forms in the label's language. Its links are relative, so that it
 * works behind a proxy that adds to the path.
 */
export function labelPage(
  label: PublicLabel,
  isSelective: boolean,
  asked: Asked = {},
): { html: string; policy: string } {
  const { uuid, title, language, fields, product, company, photo, businessToCustomerSettings } = label;
  const base = asked.isDeeper ? '../' : '';
  const heading = title ?? product.name;
  const by = [title === undefined || title === product.name ? undefined : product.name, company?.name];
  const shown = [
    ...fields.flatMap(field => (isSelective ? forPeople(field, language) : asItIs(field))),
    ...documentsOf(label, base),
    ...certificationsOf(label, base),
  ];
  const first = pictureOf(base, businessToCustomerSettings.landingPageImage, 'XLARGE', product.name);
  const sections = Map.groupBy(shown, ({ section }) => section);
  const forms = formsOf(label, base, asked);
  return pageOf({
    title: heading,
    by: by.filter(Boolean).join(' · '),
    lang: language?.toLowerCase() ?? '',
    head: `<link rel="icon" href="${base}${uuid}/qr.svg">`,
    style: (styleOf(businessToCustomerSettings.primaryColor) ?? '') + (forms && FORM_STYLE),
    forms: forms !== '',
    banner:
      first + (photo === undefined ? '' : `<img src="${base}${uuid}/photo" alt="${escaped(product.name)}">`),
    sections:
      [...sections].map(([section, items]) => sectionOf(section, items)).join('\n') +
      forms +
      (isSelective ? logoOf(base, fields, company?.name ?? termOf('company.logo', language) ?? '') : ''),
  });
}

/** The forms of the page: to check a package, if there are batches for it; for feedback, if the label has that tab. */
function formsOf(label: PublicLabel, base: string, { batch, feedback }: Asked): string {
  const { uuid, language, fields, businessToCustomerSettings } = label;
  const placesOf = (locations: readonly object[]) => {
    const value = { locations };
    const texts = textsOf(value, language).filter(text => text !== '');
    return listOf(texts, mapOf(value, language));
  };
  const batches = batchSection({ ...label, language, path: `${base}${uuid}` }, batch, placesOf);
  if (businessToCustomerSettings.tabFeedback !== true && typeof feedback !== 'object') return batches;
  const consents = CONSENTS.flatMap(([name, field]) => {
    const { value } = fields.find(shown => shown.name === field) ?? {};
    return isText(value) ? [[name, value]] : [];
  });
  const action = `${base}feedback/${uuid}`;
  return batches + feedbackSection({ language, action, consents: Object.fromEntries(consents) }, feedback);
}

/** Consents of feedback, and the fields of a label's content that tell what they are given to. */
const CONSENTS = [
  ['gdprConsent', 'settings.gdprText'],
  ['privacyPolicyConsent', 'settings.privacyPolicyText'],
  ['termsOfUseConsent', 'settings.termsOfUseText'],
] as const;

/** A field with a name and a value of its own. */
function asItIs({ name, section = '', value }: PublicLabel['fields'][number]): Shown[] {
  return value === undefined || value === '' ? [] : [{ section, term: name, texts: [textOf(value)] }];
}

/** Fields of a label's content that its heading or a picture shows, or that only programs use. */
const NOT_LISTED =
  /^(name|photo|company\.(name|logo)|settings\.(language|gdprText|privacyPolicyText|termsOfUseText))$/;

/** A field that selects from the label's content, as texts. */
function forPeople(field: PublicLabel['fields'][number], language: string | undefined): Shown[] {
  const { name = '', value } = field;
  if (!isPath(name)) return asItIs(field);
  if (NOT_LISTED.test(name)) return [];
  const isOrdered = name === 'journeyMarkers';
  const all = isOrdered
    ? textsOf({ locations: value }, language)
    : typeof value === 'object'
      ? textsOf(value, language)
      : [linked(name, textOf(value ?? ''))];
  const texts = all.filter(text => text !== '');
  return texts.length === 0
    ? []
    : [{ section: '', term: termOf(name, language), texts, isOrdered, map: mapOf(value, language) }];
}

/** The documents that a label shows, as links. */
function documentsOf(label: PublicLabel, base: string): Shown[] {
  const { videoMeetTheFarmers, photosMeetTheFarmers, productionRecords, language } = label;
  const documents = [videoMeetTheFarmers ?? [], photosMeetTheFarmers, productionRecords].flat();
  const texts = documents.flatMap(document => documentText(base, document));
  return texts.length === 0 ? [] : [{ section: '', term: termOf('documents', language), texts }];
}

/** The certifications that a label shows, as links to their certificates. */
function certificationsOf({ certifications, language }: PublicLabel, base: string): Shown[] {
  const texts = certifications.flatMap(certification => certificationText(base, certification, language));
  return texts.length === 0 ? [] : [{ section: '', term: termOf('company.certifications', language), texts }];
}

/** A map of the places of an origin that have a position; empty without any. */
function mapOf(origin: unknown, language: string | undefined): string {
  const pins = pinsOf(origin);
  return pins.length === 0 ? '' : originMap(pins, termOf('origin.map', language) ?? '');
}

/** The texts of an origin, with its places, or of an address. */
function textsOf(value: unknown, language: string | undefined): Text[] {
  const { text, address, city, state, zip, country, locations } = (value ?? {}) as Record<string, unknown>;
  const { name } = (country ?? {}) as { name?: unknown };
  const places = Array.isArray(locations) ? locations.flatMap(place => placeOf(place ?? {}, language)) : [];
  return [[text, address, zip, city, state, name].filter(isText).join(', '), ...places];
}

/** The places of an origin that have a position. */
function pinsOf(value: unknown): Pin[] {
  const { locations } = (value ?? {}) as { locations?: unknown };
  const places: Partial<Record<string, unknown>>[] = Array.isArray(locations) ? locations : [];
  return places.flatMap(place => {
    const { latitude, longitude, pinName } = place ?? {};
    if (typeof latitude !== 'number' || typeof longitude !== 'number') return [];
    return [{ latitude, longitude, name: isText(pinName) ? pinName : `${latitude}, ${longitude}` }];
  });
}

const isText = (part: unknown): part is string => typeof part === 'string' && part !== '';

/** A place of origin with its country, by its name; one without a name by its position, for apps with maps. */
function placeOf(
  { pinName, countryCode, latitude, longitude }: Record<string, unknown>,
  language: string | undefined,
): Text[] {
  const isCode = isText(countryCode) && /^[A-Z]{2}$/.test(countryCode);
  const country = isCode ? countryName(countryCode, language) : undefined;
  const isPlaced = typeof latitude === 'number' && typeof longitude === 'number';
  const position = isPlaced && !isText(pinName) ? `${latitude}, ${longitude}` : undefined;
  const text = [pinName, position, country].filter(isText).join(', ');
  if (text === '') return [];
  return [position === undefined ? text : { text, address: `geo:${latitude},${longitude}` }];
}

/** The name of a country in the language of a label, or in English; the code where neither has one. */
function countryName(code: string, language = ''): string {
  // Not every tag that a label may have is one that Intl takes; these are.
  const own = /^[a-z]{2,3}(?=-|$)/i.exec(language)?.[0] ?? 'en';
  for (const known of Intl.DisplayNames.supportedLocalesOf([own, 'en'])) {
    const name = new Intl.DisplayNames(known, { type: 'region', fallback: 'none' }).of(code);
    if (name !== undefined) return name;
  }
  return code;
}

function sectionOf(section: string, fields: readonly Shown[]): string {
  const heading = section === '' ? '' : `<h2 dir="auto">${escaped(section)}</h2>`;
  const items = fields.map(({ term = '', texts, isOrdered, map = '' }) => {
    const name = term === '' ? '' : `<dt dir="auto">${escaped(term)}</dt>`;
    const tag = isOrdered ? 'li' : 'dd';
    const each = texts.map(text => `<${tag} dir="auto">${htmlOf(text)}</${tag}>`).join('');
    const shown = isOrdered ? `<dd><ol>${each}</ol></dd>` : each;
    return `<div>${name}${shown}${map && `<dd>${map}</dd>`}</div>`;
  });
  return `<section>${heading}<dl>${items.join('')}</dl></section>`;
}

/** Places as a list, with their map. */
function listOf(texts: readonly Text[], map: string): string {
  return `<ul>${texts.map(text => `<li dir="auto">${htmlOf(text)}</li>`).join('')}</ul>${map}`;
}

/** The logo of the company, if it is shown. */
function logoOf(base: string, fields: PublicLabel['fields'], alt: string): string {
  const logo = fields.find(({ name }) => name === 'company.logo')?.value;
  const picture = pictureOf(base, logo, 'SMALL', alt, 'logo');
  return picture && `\n<section>${picture}</section>`;
}

/** A stored picture that the label shows; empty without one. */
function pictureOf(base: string, stored: unknown, size: string, alt: string, className?: string): string {
  const { storageKey } = (stored ?? {}) as { storageKey?: unknown };
  if (typeof storageKey !== 'string') return '';
  const source = `${base}../../image/${encodeURIComponent(storageKey)}/${size}`;
  return `<img ${className ? `class="${className}" ` : ''}src="${source}" alt="${escaped(alt)}">`;
}

/** A value as text; yes and no are symbols, which need no language. */
function textOf(value: unknown): string {
  return value === true ? '✓' : value === false ? '✗' : String(value);
}
