import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Language, Message } from '../messages/fill.ts';
import { Settings } from '../src/platform/settings/settings.ts';
import { describeSettings } from '../src/platform/settings/text.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(ROOT, 'messages');

/** The file of what settings mean: in English their schema says it. */
const MEANINGS = 'settings/meanings.json';

/** Messages by their whole keys, such as home.title. */
export type Messages = Readonly<Record<string, Message>>;

/** The catalogue of messages: what it says in each language, and how the language is described. */
export interface Catalogue {
  languages: Readonly<Record<string, Language>>;
  /** by language; English has all */
  messages: Readonly<Record<string, Messages>>;
  /** the files of English, below its folder */
  files: readonly string[];
}

/** Reads the catalogue. @param folder where it is; the repository's own if it is not given */
export function readCatalogue(folder = FOLDER): Catalogue {
  const languages: Catalogue['languages'] = readJson(path.join(folder, 'languages.json'));
  const filesOf = (language: string) =>
    globSync('**/*.json', { cwd: path.join(folder, language) })
      .map(file => file.replaceAll(path.sep, '/'))
      .sort();
  const read = (language: string) =>
    Object.fromEntries(
      filesOf(language).flatMap(file => keyed(file, readJson(path.join(folder, language, file)))),
    );
  const messages = Object.fromEntries(Object.keys(languages).map(language => [language, read(language)]));
  return { languages, messages, files: filesOf('en') };
}

/** The repository's catalogue, with what settings mean. */
export function ownCatalogue(): Catalogue {
  const { messages, ...catalogue } = readCatalogue();
  const meanings = Object.fromEntries(describeSettings(Settings).map(({ name, meaning }) => [name, meaning]));
  const english = { ...messages.en, ...Object.fromEntries(keyed(MEANINGS, meanings)) };
  return { ...catalogue, messages: { ...messages, en: english } };
}

/** The missing keys of each language, which are shown in English. */
export function lackingMessages({ messages }: Catalogue): Record<string, string[]> {
  const english = Object.keys(messages.en ?? {});
  return Object.fromEntries(
    Object.entries(messages).map(([language, own]) => [language, english.filter(key => !(key in own))]),
  );
}

/** The faults of a catalogue, apart from missing translations; one line each. */
export function faultsOf({ messages }: Catalogue): string[] {
  const english = messages.en ?? {};
  return Object.entries(messages).flatMap(([language, own]) =>
    Object.entries(own).flatMap(([key, message]) => {
      const original = english[key];
      if (original === undefined) return [`${language} ${key}: has no English message`];
      const [expected, found] = [placeholdersIn(original), placeholdersIn(message)];
      const forms = typeof message === 'string' ? { other: message } : message;
      return [
        ...(expected === found
          ? []
          : [`${language} ${key}: has the placeholders ${found || 'none'}, not ${expected || 'none'}`]),
        ...(Object.values(forms).every(form => form.trim() !== '') ? [] : [`${language} ${key}: is empty`]),
        ...(forms.other === undefined ? [`${language} ${key}: lacks the form "other"`] : []),
      ];
    }),
  );
}

/**
 * Compares the messages with the code of the console and of the services: keys are literals, such as 'home.title', or
 * templates, such as `packets.type.${type}`, which use every message that fits.
 *
 * @returns lines about messages that nothing uses, and about keys that English lacks
 */
export function usageFaults({ files, messages }: Catalogue): string[] {
  const ofServices = sourcesIn('src');
  const readByServices = [...ofServices.matchAll(/readMessages<.*?>\(\s*'([\w/-]+\.json)'/gs)].map(
    ([, file]) => file as string,
  );
  const byServices = usesIn(ofServices, readByServices.map(areaOf));
  const byConsole = usesIn(sourcesIn('console/src'), files.filter(file => !file.includes('/')).map(areaOf));
  const english = Object.keys(messages.en ?? {}).filter(key => !key.startsWith(`${areaOf(MEANINGS)}.`));
  const isUsed = (key: string) =>
    [byServices, byConsole].some(
      ({ literals, patterns }) => literals.has(key) || patterns.some(pattern => pattern.test(key)),
    );
  // The keys of the services have types that the compiler checks.
  const missing = [...byConsole.literals].filter(
    key => !english.includes(key) && !/\.(svelte|ts|css|json)$/.test(key),
  );
  const unmatched = byConsole.patterns.filter(pattern => !english.some(key => pattern.test(key)));
  return [
    ...english.filter(key => !isUsed(key)).map(key => `${key}: is unused`),
    ...missing.map(key => `${key}: has no English message`),
    ...unmatched.map(pattern => `${pattern.source}: English has no message that fits`),
  ];
}

/** The keys of some areas in the text of sources. */
function usesIn(text: string, areas: readonly string[]): { literals: Set<string>; patterns: RegExp[] } {
  const area = `(?:${areas.join('|')})`;
  const literals = [...text.matchAll(new RegExp(`['"](${area}\\.[\\w.-]+)['"]`, 'g'))].map(
    ([, key]) => key as string,
  );
  // The types of keys are templates, too.
  const patterns = [...text.matchAll(new RegExp(`\`(${area}\\.[^\`]*\\$\\{(?!keyof )[^\`]*)\``, 'g'))].map(
    ([, template]) =>
      new RegExp(`^${template?.replaceAll('.', '\\.').replaceAll(/\$\{[^}]*\}/g, '[\\w.-]+')}$`),
  );
  return { literals: new Set(literals), patterns };
}

function sourcesIn(folder: string): string {
  return globSync('**/*.{ts,svelte}', { cwd: path.join(ROOT, folder) })
    .filter(file => !/generated|fixtures|\.test\.ts$/.test(file))
    .map(file => readFileSync(path.join(ROOT, folder, file), 'utf8'))
    .join('\n');
}

const areaOf = (file: string) => path.basename(file, '.json');

const keyed = (file: string, messages: Messages) =>
  Object.entries(messages).map(([key, message]) => [`${areaOf(file)}.${key}`, message] as const);

const placeholdersIn = (message: Message) =>
  [...new Set(JSON.stringify(message).match(/\{\w+\}/g))].sort().join(' ');

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
