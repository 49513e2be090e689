/** A language with a region. Browsers may have tags that Intl refuses, such as en-US@posix. */
const REGIONAL = /^([a-z]{2})-([A-Z]{2}|\d{3})$/;

/**
 * The locale for a language of the console: the browser's, whose region decides how dates and numbers are written, else
 * the language alone.
 *
 * @param tags of the browser, the preferred one first
 */
export function localeOf(language: string, tags: readonly string[]): string {
  return tags.find(tag => REGIONAL.exec(tag)?.[1] === language) ?? language;
}
