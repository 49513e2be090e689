const WELL_FORMED = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/;
/** More distinct tags than one deployment sees; the bound keeps a hostile client from filling memory. */
const MAX_REMEMBERED = 1000;
const remembered = new Map<string, boolean>();

/**
 * Footer.lang: the body's own `lang` where that is a language tag (BCP 47), otherwise the first tag of
 * Content-Language, otherwise `und`, which is BCP 47 for undetermined.
 */
export function packetLanguage(lang: unknown, contentLanguage: string | undefined): string {
  if (typeof lang === 'string' && isLanguageTag(lang)) return lang;
  const header = contentLanguage?.split(',')[0]?.trim() ?? '';
  return isLanguageTag(header) ? header : 'und';
}

/** Whether a text is a language tag (BCP 47) of up to 35 characters. */
export function isLanguageTag(tag: string): boolean {
  if (tag.length > 35 || !WELL_FORMED.test(tag)) return false;
  let valid = remembered.get(tag);
  if (valid === undefined) {
    valid = canonicalises(tag);
    if (remembered.size < MAX_REMEMBERED) remembered.set(tag, valid);
  }
  return valid;
}

function canonicalises(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
