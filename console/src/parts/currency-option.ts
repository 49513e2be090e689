import { currencyName } from '../messages/format.ts';

/** A currency as an option of a list: its code, with its name in the language of the reader. */
export function currencyOption({ code, label }: { code: string; label: string }) {
  const name = currencyName(code, label);
  return { value: code, label: name === code ? code : `${code} · ${name}` };
}

/** Options with the chosen one, which a list of those that are enabled may lack. */
export function withOwn(options: { value: string; label: string }[], own: string) {
  const hasOwn = own === '' || options.some(({ value }) => value === own);
  return hasOwn ? options : [...options, currencyOption({ code: own, label: own })];
}
