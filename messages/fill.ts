/** A text with placeholders such as {name}, or its plural forms by the categories of CLDR. */
export type Message = string | Partial<Record<Intl.LDMLPluralRule, string>>;

/** Puts values into the placeholders of a message; `count`, or a limit, selects its plural form. */
export function fill(message: Message, values: Record<string, string | number>, locale: string): string {
  const text = typeof message === 'string' ? message : pluralOf(message, counted(values), locale);
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? new Intl.NumberFormat([locale, 'en-GB']).format(value) : value;
  });
}

/**
 * The languages that CLDR has no plural rules for, each with the language whose rules its messages follow. Browsers
 * differ in what they do with such a language: some have one form for all numbers, some take the language of the machine.
 */
const RULES_OF: Readonly<Record<string, string>> = { rw: 'en' };

function counted({ count, max, min, max_ha: hectares }: Record<string, string | number>): number {
  return Number(count ?? max ?? min ?? hectares ?? 0);
}

function pluralOf(forms: Exclude<Message, string>, count: number, locale: string): string {
  const form = new Intl.PluralRules([RULES_OF[locale] ?? locale, 'en-GB']).select(count);
  return forms[form] ?? forms.other ?? '';
}
