/** Maximum characters of a language tag: the longest that a tag without extensions can have (RFC 5646 §4.4.1). */
const MAX_LENGTH = 35;

/** RFC 5646 §2.1: a language with extended ones, script, region, variants, extensions and private use; or private use alone. */
const WELL_FORMED = new RegExp(
  '^(?:(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?' +
    '(?<variants>(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*)(?<extensions>(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*)' +
    '(?:-x(?:-[a-z0-9]{1,8})+)?|x(?:-[a-z0-9]{1,8})+)$',
);

/** Grandfathered tags that do not match the syntax (RFC 5646 §2.1, irregular); no more will be registered. */
const IRREGULAR = new Set([
  'en-gb-oed',
  'i-ami',
  'i-bnn',
  'i-default',
  'i-enochian',
  'i-hak',
  'i-klingon',
  'i-lux',
  'i-mingo',
  'i-navajo',
  'i-pwn',
  'i-tao',
  'i-tay',
  'i-tsu',
  'sgn-be-fr',
  'sgn-be-nl',
  'sgn-ch-de',
]);

/**
 * Footer.lang: the body's `lang` if it is a language tag (BCP 47), otherwise the first tag of Content-Language,
 * otherwise `und`, which is BCP 47 for undetermined.
 */
export function packetLanguage(lang: unknown, contentLanguage: string | undefined): string {
  if (typeof lang === 'string' && isLanguageTag(lang)) return lang;
  const header = contentLanguage?.split(',')[0]?.trim() ?? '';
  return isLanguageTag(header) ? header : 'und';
}

/** Whether a text is a language tag (BCP 47) of up to 35 characters: well-formed, no variant or extension twice. */
export function isLanguageTag(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  const tag = text.toLowerCase();
  if (IRREGULAR.has(tag)) return true;
  const parts = WELL_FORMED.exec(tag)?.groups;
  if (!parts) return false;
  const { variants = '', extensions = '' } = parts;
  return isDistinct(variants.split('-').slice(1)) && isDistinct(extensions.match(/(?<=-)[^-](?=-)/g) ?? []);
}

function isDistinct(parts: readonly string[]): boolean {
  return new Set(parts).size === parts.length;
}
