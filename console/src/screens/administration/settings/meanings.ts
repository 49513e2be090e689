import type { Language } from '../../../messages/messages.svelte.ts';

/** The meanings of settings by name, one file per language except English, which comes from the services. */
const FILES = import.meta.glob<Record<string, string>>('./*/settings/meanings.json', {
  base: '../../../../../messages',
  import: 'default',
});

/** The meanings of settings in a language, by name; empty in English. */
export async function meaningsIn(language: Language): Promise<Readonly<Record<string, string>>> {
  return (await FILES[`./${language}/settings/meanings.json`]?.()) ?? {};
}
