/** The words of a digest in one language. */
interface Words {
  subject: string;
  /** before the link to the inbox, by the form of the language for the count */
  say: { one: string; other: string };
}

/** By the language of the recipient. */
const WORDS: Readonly<Record<string, Words>> = {
  en: {
    subject: 'More observations were shared with you',
    say: {
      one: '{count} more observation from the field was shared with you. It waits in your inbox:',
      other: '{count} more observations from the field were shared with you. They wait in your inbox:',
    },
  },
  de: {
    subject: 'Weitere Beobachtungen wurden mit Ihnen geteilt',
    say: {
      one: '{count} weitere Beobachtung aus dem Feld wurde mit Ihnen geteilt. Sie wartet in Ihrem Eingang:',
      other:
        '{count} weitere Beobachtungen aus dem Feld wurden mit Ihnen geteilt. Sie warten in Ihrem Eingang:',
    },
  },
  es: {
    subject: 'Se compartieron más observaciones con usted',
    say: {
      one: 'Se compartió con usted {count} observación más del campo. Espera en su bandeja de entrada:',
      other:
        'Se compartieron con usted {count} observaciones más del campo. Esperan en su bandeja de entrada:',
    },
  },
  fr: {
    subject: 'D’autres observations ont été partagées avec vous',
    say: {
      one: '{count} autre observation du terrain a été partagée avec vous. Elle attend dans votre boîte de réception :',
      other:
        '{count} autres observations du terrain ont été partagées avec vous. Elles attendent dans votre boîte de réception :',
    },
  },
  rw: {
    subject: 'Wasangijwe ibindi byabonetse mu murima',
    say: {
      one: 'Wasangijwe ikindi cyabonetse mu murima: {count}. Kiri mu Byakiriwe byawe:',
      other: 'Wasangijwe ibindi byabonetse mu murima: {count}. Biri mu Byakiriwe byawe:',
    },
  },
  sw: {
    subject: 'Umeshirikishwa chunguzi nyingine za shambani',
    say: {
      one: 'Umeshirikishwa uchunguzi mwingine {count} wa shambani. Unasubiri katika kikasha chako:',
      other: 'Umeshirikishwa chunguzi nyingine {count} za shambani. Zinasubiri katika kikasha chako:',
    },
  },
};

/** The languages that CLDR has no plural rules for, each with the language whose rules its words follow. */
const RULES_OF: Readonly<Record<string, string>> = { rw: 'en' };

/**
 * The subject and the sentence of a digest in a language, with its tag; in English if there are none in it.
 *
 * @param count of the packets that it sums up
 */
export function digestIn(
  language: string | undefined,
  count: number,
): { subject: string; say: string; tag: string } {
  const wanted = (language ?? '').toLowerCase();
  const tag = Object.hasOwn(WORDS, wanted) ? wanted : 'en';
  const { subject, say } = WORDS[tag] as Words;
  const form = new Intl.PluralRules(RULES_OF[tag] ?? tag).select(count);
  return { subject, say: (form === 'one' ? say.one : say.other).replace('{count}', String(count)), tag };
}
