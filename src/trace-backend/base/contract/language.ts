import type { Static } from 'typebox';
import { Type } from '../../../platform/type.ts';

/** The languages of users and translations, as the public front end knows them. */
export const LANGUAGES = ['EN', 'DE', 'RW', 'ES'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The languages of mails, which are those of the console. */
export const MAIL_LANGUAGES = [...LANGUAGES, 'FR', 'SW'] as const;
export type MailLanguage = (typeof MAIL_LANGUAGES)[number];

/** The language of a user as the public front end knows it. */
export function frontEndLanguage(language: MailLanguage): Language {
  return LANGUAGES.find(known => known === language) ?? DEFAULT_LANGUAGE;
}

/** The language of a caller that names none. */
const DEFAULT_LANGUAGE: Language = 'EN';

/**
 * The header that selects translations, for the `headers` of a route's schema. Front ends add it to every call, some
 * twice, and browsers join repeated headers with commas: so it is not an enumeration.
 */
export const LanguageHeader = Type.Object({
  language: Type.Optional(
    Type.String({
      maxLength: 100,
      description: `language of translations: ${LANGUAGES.join(', ')}; anything else means ${DEFAULT_LANGUAGE}`,
      examples: [DEFAULT_LANGUAGE],
    }),
  ),
});

/** The same as a query parameter, which takes precedence over the header. */
export const QueryLanguage = LanguageHeader.properties.language;

/** The language that a request's headers, or its query, select. */
export function languageOf({ language = '' }: Static<typeof LanguageHeader>): Language {
  const [first = ''] = language.split(',', 1);
  const code = first.trim().toUpperCase();
  return LANGUAGES.find(known => known === code) ?? DEFAULT_LANGUAGE;
}

/** A language of texts: one of those of users and translations, or any other, as a BCP 47 tag. */
export const AnyLanguage = Type.Union(
  [
    Type.Enum([...LANGUAGES]),
    Type.String({
      pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
      'x-reason': 'validation.language',
      maxLength: 35,
    }),
  ],
  { description: 'BCP 47', examples: ['EN'] },
);
