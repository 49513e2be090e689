import { readFileSync } from 'node:fs';

/** A file of messages in another language than English: the folder of the catalogue, the language, and the file below it. */
const TRANSLATED = /^(.*[/\\]messages[/\\])(?!en[/\\])\w\w[/\\]([\w-]+\.json)$/;

/**
 * Adds to each file of messages what its language lacks, in English: a page loads only the messages of its own language.
 * A plug-in for Vite.
 */
export function englishMessages() {
  return {
    name: 'english-messages',
    enforce: 'pre',
    transform(code, id) {
      const [, folder, file] = TRANSLATED.exec(id) ?? [];
      if (folder === undefined) return null;
      const english = `${folder}en/${file}`;
      this.addWatchFile(english);
      return {
        code: JSON.stringify({ ...JSON.parse(readFileSync(english, 'utf8')), ...JSON.parse(code) }),
        map: null,
      };
    },
  };
}
