import type { Static } from 'typebox';
import { Type } from '../../../platform/type.ts';

/** The languages of users and translations that the public front end has. */
export const LANGUAGES = ['EN', 'DE', 'RW', 'ES'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The languages of mails and of the console. */
export const MAIL_LANGUAGES = [...LANGUAGES, 'FR', 'SW'] as const;
export type MailLanguage = (typeof MAIL_LANGUAGES)[number];

/** The language of a user for the public front end, which does not have all of them. */
export function frontEndLanguage(language: MailLanguage): Language {
  return LANGUAGES.find(each => each === language) ?? DEFAULT_LANGUAGE;
}

/** The language of callers who name none. */
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

/** The header as a query parameter, which takes precedence. */
export const QueryLanguage = LanguageHeader.properties.language;

/** The language that a request's headers, or its query, select. */
export function languageOf({ language = '' }: Static<typeof LanguageHeader>): Language {
  const [first = ''] = language.split(',', 1);
  const code = first.trim().toUpperCase();
  return LANGUAGES.find(each => each === code) ?? DEFAULT_LANGUAGE;
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
