import { escaped } from '../../../platform/http/page.ts';
import { fieldsOf } from '../../catalogue/companies/record/fields.ts';
import { dayOf } from '../../catalogue/labels/documents/certifications.ts';
import type { ShownCertification, ShownDocument } from '../../catalogue/labels/documents/schemas.ts';
import { termOf } from './terms.ts';

/** A text, or a link. */
export type Text = string | { text: string; address: string };

/** A text as HTML. Links neither give linked pages access nor count for search engines. */
export function htmlOf(text: Text): string {
  if (typeof text === 'string') return escaped(text);
  const rel = /^https?:/.test(text.address) ? ' rel="nofollow noopener"' : '';
  return `<a href="${escaped(text.address)}"${rel}>${escaped(text.text)}</a>`;
}

/** The URL of an entered web address, with https:// if it has no scheme; undefined unless it is http or https. */
export function webAddressOf(entered: string): string | undefined {
  const text = entered.trim();
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (/[\s@\\]/.test(text) || !URL.canParse(address)) return undefined;
  const { hostname, href } = new URL(address);
  return /^[^.]+(\.[^.]+)+$/.test(hostname) ? href : undefined;
}

/** The mailto URL of an email address; undefined if the address is invalid. */
export function mailAddressOf(entered: string): string | undefined {
  const [, name, host] = /^([\w.+'-]{1,64})@([a-z\d-]+(?:\.[a-z\d-]+)+)$/i.exec(entered.trim()) ?? [];
  return name && host && `mailto:${encodeURIComponent(name)}@${host}`;
}

const ADDRESSES: Partial<Record<string, (entered: string) => string | undefined>> = Object.fromEntries([
  ...fieldsOf('url').map(name => [`company.${name}`, webAddressOf]),
  ...fieldsOf('email').map(name => [`company.${name}`, mailAddressOf]),
]);

/** The text of a field, as a link if it is a URL or email address. */
export function linked(field: string, text: string): Text {
  const address = ADDRESSES[field]?.(text);
  return address === undefined ? text : { text, address };
}

/** A document by its name, otherwise by its file name or URL, as a link if it has a file or URL. */
export function documentText(base: string, { name, link, document }: ShownDocument): Text[] {
  const text = name || document?.name || link;
  if (!text) return [];
  const key = document?.storageKey;
  const address = key
    ? `${base}../../document/${encodeURIComponent(key)}`
    : link
      ? webAddressOf(link)
      : undefined;
  return [address === undefined ? text : { text, address }];
}

/** A certification by its standard and validity, as a link if it has a certificate. */
export function certificationText(
  base: string,
  { type, description, validity, certificate }: ShownCertification,
  language: string | undefined,
): Text[] {
  const name = [type, description].filter(Boolean).join(', ') || certificate?.name;
  if (!name) return [];
  const day = dayOf(validity);
  const until = day ? `${termOf('certification.until', language)} ${longDate(day, language)}` : validity;
  const text = [name, until].filter(Boolean).join(', ');
  const key = certificate?.storageKey;
  return [key ? { text, address: `${base}../../document/${encodeURIComponent(key)}` } : text];
}

/** A day in the language of a label, or in English. */
function longDate(day: string, language = ''): string {
  const ownLanguage = /^[a-z]{2,3}(?=-|$)/i.exec(language)?.[0] ?? 'en';
  const locales = Intl.DateTimeFormat.supportedLocalesOf([ownLanguage, 'en-GB']);
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return day;
  return new Intl.DateTimeFormat(locales, { dateStyle: 'long', timeZone: 'UTC' }).format(date);
}
