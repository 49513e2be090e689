/**
 * Folds a text so that two texts which differ only in case, or only in how their accents are encoded, become the
 * same: what search compares (docs/decisions/chat-search.md).
 *
 * Canonical composition (NFC), then full case folding by way of lower, upper, lower: the detour through upper case
 * joins what has several lower-case forms (ß and ss, ς and σ, ı and i), the first step joins ẞ to ß. No locale takes
 * part, so that every process folds alike. Two things remain that JavaScript lower-cases by context, which a
 * substring does not have: the final sigma, and the dot that İ leaves on its i.
 *
 * Accents stay: café is not cafe. Folding is idempotent.
 */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replace(/i\u0307+/g, 'i')
    .normalize('NFC');
}

const ASCII = /^[\0-\x7f]*$/;
