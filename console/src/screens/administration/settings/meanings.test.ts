import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Settings } from '../../../../../src/platform/settings/settings.ts';
import { describeSettings } from '../../../../../src/platform/settings/text.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../../../messages');
const ENGLISH = describeSettings(Settings);

/** Words that every language shares: numbers, names of settings, values, paths and addresses. */
function sameEverywhere(text: string): string[] {
  const plain = text.replaceAll(/(?<=\d)[.,\u00a0\u202f](?=\d{3})/g, '');
  const words = plain.match(
    /`\w+`|\w*\d\w*|[A-Z]\w*_\w*|\((?:basic|strict|off|optional|required)\)|\S*\/\S+/g,
  );
  return [...new Set(words?.map(word => word.replace(/[);,:.]+$/, '').replace(/^\(/, '')))].sort();
}

test('meanings of settings are about the same numbers and names as in English', () => {
  const files = globSync('*/settings/meanings.json', { cwd: FOLDER });
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    const meanings: Record<string, string> = JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8'));
    for (const { name, meaning } of ENGLISH.filter(setting => setting.name in meanings)) {
      expect(sameEverywhere(meanings[name] as string), `${file} ${name}`).toEqual(sameEverywhere(meaning));
    }
  }
});
