/** A text with placeholders such as {name}, or its plural forms by the categories of CLDR. */
export type Message = string | Partial<Record<Intl.LDMLPluralRule, string>>;

/** What is put into placeholders, by their names. */
export type Values = Readonly<Record<string, string | number>>;

/** A language of messages, as languages.json describes it. */
export interface Language {
  /** what it calls itself */
  name: string;
  /** BCP 47, for the numbers and dates of Intl */
  locale: string;
  /**
   * The language whose plural rules its messages follow: another one if CLDR has no rules for it. For such a language
   * some browsers have one form for all numbers, others and Node take the rules of the language of the machine.
   */
  plurals: string;
}

/** Puts values into the placeholders of a message; `count`, or a limit, selects its plural form. */
export function fill(message: Message, values: Values, language: Language): string {
  const text = typeof message === 'string' ? message : pluralOf(message, counted(values), language.plurals);
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number'
      ? new Intl.NumberFormat([language.locale, 'en-GB']).format(value)
      : value;
  });
}

function counted({ count, max, min, max_ha: hectares }: Values): number {
  return Number(count ?? max ?? min ?? hectares ?? 0);
}

function pluralOf(forms: Exclude<Message, string>, count: number, rules: string): string {
  const form = new Intl.PluralRules([rules, 'en-GB']).select(count);
  return forms[form] ?? forms.other ?? '';
}
