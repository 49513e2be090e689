import type { Language } from '../../../messages/messages.svelte.ts';

/** What settings mean by their names, one file for each language but English, in which the services tell it. */
const FILES = import.meta.glob<Record<string, string>>('./*/settings/meanings.json', {
  base: '../../../../../messages',
  import: 'default',
});

/** What settings mean in a language, by their names; without any in English. */
export async function meaningsIn(language: Language): Promise<Readonly<Record<string, string>>> {
  return (await FILES[`./${language}/settings/meanings.json`]?.()) ?? {};
}
