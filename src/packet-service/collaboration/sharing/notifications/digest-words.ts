/** The words of a digest in one language. */
interface Words {
  subject: string;
  /** before the link to the inbox */
  say: (count: number) => string;
}

/** By the language of the recipient. */
const WORDS: Readonly<Record<string, Words>> = {
  en: {
    subject: 'More observations were shared with you',
    say: count =>
      count === 1
        ? '1 more observation from the field was shared with you. It waits in your inbox:'
        : `${count} more observations from the field were shared with you. They wait in your inbox:`,
  },
  de: {
    subject: 'Weitere Beobachtungen wurden mit Ihnen geteilt',
    say: count =>
      count === 1
        ? '1 weitere Beobachtung aus dem Feld wurde mit Ihnen geteilt. Sie wartet in Ihrem Eingang:'
        : `${count} weitere Beobachtungen aus dem Feld wurden mit Ihnen geteilt. Sie warten in Ihrem Eingang:`,
  },
  es: {
    subject: 'Se compartieron más observaciones con usted',
    say: count =>
      count === 1
        ? 'Se compartió con usted 1 observación más del campo. Espera en su bandeja de entrada:'
        : `Se compartieron con usted ${count} observaciones más del campo. Esperan en su bandeja de entrada:`,
  },
  fr: {
    subject: 'D’autres observations ont été partagées avec vous',
    say: count =>
      count === 1
        ? '1 autre observation du terrain a été partagée avec vous. Elle attend dans votre boîte de réception :'
        : `${count} autres observations du terrain ont été partagées avec vous. Elles attendent dans votre boîte de réception :`,
  },
  rw: {
    subject: 'Wasangijwe ibindi byabonetse mu murima',
    say: count => `Wasangijwe ibindi byabonetse mu murima: ${count}. Biri mu Byakiriwe byawe:`,
  },
  sw: {
    subject: 'Umeshirikishwa uchunguzi mwingine wa shambani',
    say: count => `Umeshirikishwa uchunguzi mwingine wa shambani: ${count}. Unasubiri katika kikasha chako:`,
  },
};

/** The words of a digest in a language, with its tag; in English if there are none in it. */
export function digestWordsIn(language: string | undefined): { words: Words; tag: string } {
  const tag = (language ?? '').toLowerCase();
  const words = Object.hasOwn(WORDS, tag) ? WORDS[tag] : undefined;
  return words ? { words, tag } : { words: WORDS.en as Words, tag: 'en' };
}
