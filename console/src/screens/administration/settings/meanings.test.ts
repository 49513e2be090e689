import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Settings } from '../../../../../src/platform/settings/settings.ts';
import { describeSettings } from '../../../../../src/platform/settings/text.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../../../messages');
const ENGLISH = describeSettings(Settings);

/** What is the same in every language: numbers, names of settings, values, paths and addresses. */
function sameEverywhere(text: string): string[] {
  const plain = text.replaceAll(/(?<=\d)[.,\u00a0\u202f](?=\d{3})/g, '');
  const words = plain.match(
    /`\w+`|\w*\d\w*|[A-Z]\w*_\w*|\((?:basic|strict|off|optional|required)\)|\S*\/\S+/g,
  );
  return [...new Set(words?.map(word => word.replace(/[);,:.]+$/, '').replace(/^\(/, '')))].sort();
}

test('every setting has a meaning in every language, about the same numbers and names as in English', () => {
  const files = globSync('*/settings/meanings.json', { cwd: FOLDER }).sort();
  expect(files).toEqual(['de', 'es', 'fr', 'rw', 'sw'].map(language => `${language}/settings/meanings.json`));
  for (const file of files) {
    const meanings: Record<string, string> = JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8'));
    expect(Object.keys(meanings), file).toEqual(ENGLISH.map(({ name }) => name));
    for (const { name, meaning } of ENGLISH) {
      expect(sameEverywhere(meanings[name] as string), `${file} ${name}`).toEqual(sameEverywhere(meaning));
    }
  }
});
