import { escaped, pageOf } from '../../../platform/http/page.ts';
import { isPath } from '../../catalogue/labels/values.ts';
import { styleOf } from './colour.ts';
import { type BatchAnswer, batchSection } from './forms/batch-form.ts';
import { type FeedbackState, feedbackSection } from './forms/feedback-form.ts';
import { FORM_STYLE } from './forms/fields.ts';
import { originMap, type Pin } from './origin-map.ts';
import type { PublicLabel } from './schemas.ts';
import { termOf } from './terms.ts';
import { certificationText, documentText, htmlOf, linked, type Text } from './texts.ts';

/** A field as shown on the page. */
interface ShownField {
  section: string;
  /** its heading */
  term: string | undefined;
  texts: Text[];
  /** whether the texts have an order */
  isOrdered?: boolean;
  /** SVG of the map of its locations */
  map?: string;
}

/** The answers to the forms of a label's page. */
export interface FormAnswers {
  batch?: BatchAnswer;
  feedback?: FeedbackState;
  /** whether the URL of the page is one level deeper than that of the label's page */
  isDeeper?: boolean;
}

/**
 * A label as a page for phones, with headings and forms in the label's language. Its links are relative, so that it
 * works behind a proxy that adds to the path.
 */
export function labelPage(
  label: PublicLabel,
  isSelective: boolean,
  answers: FormAnswers = {},
): { html: string; policy: string } {
  const { uuid, title, language, fields, product, company, photo, businessToCustomerSettings } = label;
  const base = answers.isDeeper ? '../' : '';
  const heading = title ?? product.name;
  const byline = [title === undefined || title === product.name ? undefined : product.name, company?.name];
  const shownFields = [
    ...fields.flatMap(field => (isSelective ? contentField(field, language) : ownValueField(field))),
    ...documentsOf(label, base),
    ...certificationsOf(label, base),
  ];
  const banner = pictureOf(base, businessToCustomerSettings.landingPageImage, 'XLARGE', product.name);
  const sections = Map.groupBy(shownFields, ({ section }) => section);
  const forms = formsOf(label, base, answers);
  return pageOf({
    title: heading,
    by: byline.filter(Boolean).join(' · '),
    lang: language?.toLowerCase() ?? '',
    head: `<link rel="icon" href="${base}${uuid}/qr.svg">`,
    style: (styleOf(businessToCustomerSettings.primaryColor) ?? '') + (forms && FORM_STYLE),
    forms: forms !== '',
    banner:
      banner + (photo === undefined ? '' : `<img src="${base}${uuid}/photo" alt="${escaped(product.name)}">`),
    sections:
      [...sections].map(([section, items]) => sectionOf(section, items)).join('\n') +
      forms +
      (isSelective ? logoOf(base, fields, company?.name ?? termOf('company.logo', language) ?? '') : ''),
  });
}

/** The forms of the page: to check a package, if there are batches for it, and for feedback, if the label has that tab. */
function formsOf(label: PublicLabel, base: string, { batch, feedback }: FormAnswers): string {
  const { uuid, language, fields, businessToCustomerSettings } = label;
  const locationsHtml = (locations: readonly object[]) => {
    const value = { locations };
    const texts = textsOf(value, language).filter(text => text !== '');
    return listOf(texts, mapOf(value, language));
  };
  const batches = batchSection({ ...label, language, path: `${base}${uuid}` }, batch, locationsHtml);
  if (businessToCustomerSettings.tabFeedback !== true && typeof feedback !== 'object') return batches;
  const consents = CONSENTS.flatMap(([name, field]) => {
    const { value } = fields.find(candidate => candidate.name === field) ?? {};
    return isText(value) ? [[name, value]] : [];
  });
  const action = `${base}feedback/${uuid}`;
  return batches + feedbackSection({ language, action, consents: Object.fromEntries(consents) }, feedback);
}

/** Consents of feedback, and the fields of a label's content with their terms. */
const CONSENTS = [
  ['gdprConsent', 'settings.gdprText'],
  ['privacyPolicyConsent', 'settings.privacyPolicyText'],
  ['termsOfUseConsent', 'settings.termsOfUseText'],
] as const;

/** A field with a name and a value of its own. */
function ownValueField({ name, section = '', value }: PublicLabel['fields'][number]): ShownField[] {
  return value === undefined || value === '' ? [] : [{ section, term: name, texts: [textOf(value)] }];
}

/** Fields of a label's content that are not listed: heading, pictures, and fields that only programs use. */
const UNLISTED_FIELDS =
  /^(name|photo|company\.(name|logo)|settings\.(language|gdprText|privacyPolicyText|termsOfUseText))$/;

/** A field that selects from the label's content, as texts. */
function contentField(field: PublicLabel['fields'][number], language: string | undefined): ShownField[] {
  const { name = '', value } = field;
  if (!isPath(name)) return ownValueField(field);
  if (UNLISTED_FIELDS.test(name)) return [];
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
function documentsOf(label: PublicLabel, base: string): ShownField[] {
  const { videoMeetTheFarmers, photosMeetTheFarmers, productionRecords, language } = label;
  const documents = [videoMeetTheFarmers ?? [], photosMeetTheFarmers, productionRecords].flat();
  const texts = documents.flatMap(document => documentText(base, document));
  return texts.length === 0 ? [] : [{ section: '', term: termOf('documents', language), texts }];
}

/** The certifications that a label shows, as links to their certificates. */
function certificationsOf({ certifications, language }: PublicLabel, base: string): ShownField[] {
  const texts = certifications.flatMap(certification => certificationText(base, certification, language));
  return texts.length === 0 ? [] : [{ section: '', term: termOf('company.certifications', language), texts }];
}

/** A map of the locations of an origin that have a position; empty without any. */
function mapOf(origin: unknown, language: string | undefined): string {
  const pins = pinsOf(origin);
  return pins.length === 0 ? '' : originMap(pins, termOf('origin.map', language) ?? '');
}

/** The texts of an origin, with its locations, or of an address. */
function textsOf(value: unknown, language: string | undefined): Text[] {
  const { text, address, city, state, zip, country, locations } = (value ?? {}) as Record<string, unknown>;
  const { name } = (country ?? {}) as { name?: unknown };
  const locationTexts = Array.isArray(locations)
    ? locations.flatMap(location => locationText(location ?? {}, language))
    : [];
  return [[text, address, zip, city, state, name].filter(isText).join(', '), ...locationTexts];
}

/** The locations of an origin that have a position. */
function pinsOf(value: unknown): Pin[] {
  const { locations } = (value ?? {}) as { locations?: unknown };
  const entries: Partial<Record<string, unknown>>[] = Array.isArray(locations) ? locations : [];
  return entries.flatMap(location => {
    const { latitude, longitude, pinName } = location ?? {};
    if (typeof latitude !== 'number' || typeof longitude !== 'number') return [];
    return [{ latitude, longitude, name: isText(pinName) ? pinName : `${latitude}, ${longitude}` }];
  });
}

const isText = (part: unknown): part is string => typeof part === 'string' && part !== '';

/** The name and country of a location; without a name, its position as a link for apps with maps. */
function locationText(
  { pinName, countryCode, latitude, longitude }: Record<string, unknown>,
  language: string | undefined,
): Text[] {
  const isCode = isText(countryCode) && /^[A-Z]{2}$/.test(countryCode);
  const country = isCode ? countryName(countryCode, language) : undefined;
  const hasPosition = typeof latitude === 'number' && typeof longitude === 'number';
  const position = hasPosition && !isText(pinName) ? `${latitude}, ${longitude}` : undefined;
  const text = [pinName, position, country].filter(isText).join(', ');
  if (text === '') return [];
  return [position === undefined ? text : { text, address: `geo:${latitude},${longitude}` }];
}

/** The name of a country in the language of a label, or in English; its code if neither has a name. */
function countryName(code: string, language = ''): string {
  // Intl does not accept every tag that a label may have; it accepts primary languages.
  const ownLanguage = /^[a-z]{2,3}(?=-|$)/i.exec(language)?.[0] ?? 'en';
  for (const locale of Intl.DisplayNames.supportedLocalesOf([ownLanguage, 'en'])) {
    const name = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' }).of(code);
    if (name !== undefined) return name;
  }
  return code;
}

function sectionOf(section: string, fields: readonly ShownField[]): string {
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

/** Locations as a list, with their map. */
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
