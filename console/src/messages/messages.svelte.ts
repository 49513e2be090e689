import { fill, type Message } from '../../../messages/fill.ts';
import languages from '../../../messages/languages.json' with { type: 'json' };
import { localeOf } from './locale.ts';

/** The languages of the console, by their tags. */
export const LANGUAGES = languages;
export type Language = keyof typeof LANGUAGES;

/** One file for each area and language, by its path: those of the services are in folders of their own. */
const FILES = import.meta.glob<Record<string, Message>>('./*/*.json', {
  base: '../../../messages',
  import: 'default',
});

/** The areas, which are those of English: the build adds to each file of another language what that lacks. */
const AREAS = Object.keys(FILES).flatMap(path => /^\.\/en\/(.+)\.json$/.exec(path)?.[1] ?? []);

const STORED = 'language';

let current = $state<Language>('en');
let messages = $state.raw<Record<string, Message>>({});

/** The language of the console. */
export function language(): Language {
  return current;
}

/**
 * The locales for Intl: the language with the region of the browser, if it has one for it. Browsers that do not know a
 * language use the next.
 */
export function locales(): string[] {
  return [localeOf(current, navigator.languages), 'en-GB'];
}

/**
 * The message of a key such as `packets.title`.
 *
 * @param values of the placeholders; `count` selects the plural form
 */
export function t(key: string, values: Record<string, string | number> = {}): string {
  return fill(messages[key] ?? key, values, LANGUAGES[current]);
}

/** Whether there is a message of this key in the language of the console. */
export function hasMessage(key: string): boolean {
  return key in messages;
}

/**
 * The messages of one area in a language other than the console's, by keys without the area.
 *
 * @param tag of the language, of which the region does not matter; English where there are none in it
 */
export async function messagesIn(tag: string, area: string): Promise<Readonly<Record<string, Message>>> {
  const [wanted = ''] = tag.toLowerCase().split('-');
  const load = FILES[`./${wanted}/${area}.json`] ?? FILES[`./en/${area}.json`];
  return (await load?.()) ?? {};
}

/** Loads the language that was chosen in this browser, else the first of the browser's that there is. */
export async function loadLanguage(): Promise<void> {
  const wanted = [localStorage.getItem(STORED) ?? '', ...navigator.languages];
  const supported = wanted.map(tag => tag.slice(0, 2).toLowerCase()).find(tag => tag in LANGUAGES);
  await setLanguage((supported as Language | undefined) ?? 'en', { keep: false });
}

/** Changes the language of the console. */
export async function setLanguage(chosen: Language, { keep = true } = {}): Promise<void> {
  const areas = await Promise.all(AREAS.map(async area => [area, await messagesIn(chosen, area)] as const));
  messages = Object.fromEntries(
    areas.flatMap(([area, texts]) => Object.entries(texts).map(([key, text]) => [`${area}.${key}`, text])),
  );
  current = chosen;
  document.documentElement.lang = chosen;
  if (keep) localStorage.setItem(STORED, chosen);
}
