import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fill, type Language, type Message, type Values } from '../../../messages/fill.ts';

/** The catalogue of messages, at the root of the repository and of the package. */
const FOLDER = new URL('../../../messages/', import.meta.url);

/** The language of what another one lacks. */
const FALLBACK = 'en';

const languages: Readonly<Record<string, Language>> = read('languages.json');

/** The languages of messages, as BCP 47 tags. */
export const MESSAGE_LANGUAGES: readonly string[] = Object.keys(languages);

/** The messages of an area in one language. */
export interface Words<Key extends string> {
  /** the language, as a BCP 47 tag */
  language: string;
  /**
   * The message of a key such as `mails.reset.subject`: in English if the language lacks it.
   *
   * @param values of the placeholders; `count` selects the plural form
   */
  t: (key: Key, values?: Values) => string;
}

/**
 * Reads an area of the catalogue in all languages, once: call it where the module that needs it is loaded.
 *
 * @param file of the area below the folder of a language, such as services/mails.json
 * @returns the messages in a language by its tag, in any case and of any region; English if there are none in it
 * @throws {Error} if the area is missing in English: the installation is incomplete
 */
export function readMessages<Key extends string>(file: string): (language: string | undefined) => Words<Key> {
  const area = path.basename(file, '.json');
  const english = read(`${FALLBACK}/${file}`);
  const wordsOf = (tag: string): Words<Key> => {
    const messages: Record<string, Message> = { ...english, ...read(`${tag}/${file}`) };
    const byKey = new Map(Object.entries(messages).map(([key, message]) => [`${area}.${key}`, message]));
    const language = languages[tag] as Language;
    return { language: tag, t: (key, values = {}) => fill(byKey.get(key) ?? key, values, language) };
  };
  const translated = MESSAGE_LANGUAGES.filter(tag => existsSync(new URL(`${tag}/${file}`, FOLDER)));
  const all = new Map(translated.map(tag => [tag, wordsOf(tag)]));
  return (tag = FALLBACK) =>
    (all.get(tag.split('-')[0]?.toLowerCase() ?? '') ?? all.get(FALLBACK)) as Words<Key>;
}

function read(file: string) {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
}
