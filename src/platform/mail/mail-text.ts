import { escaped } from '../http/page.ts';
import type { Words } from '../messages/messages.ts';
import { shortLine } from './plain-name.ts';

/** The content of a mail, as text and HTML. */
export interface MailText {
  subject: string;
  text: string;
  html: string;
}

/** A paragraph of a mail: words, or a link. */
export type MailLine = string | { url: string };

/** Maximum characters of the name of an instance that a mail shows. */
const NAME_SHOWN = 60;

/**
 * A mail of a few paragraphs and links, as text and as HTML. Everything in it is escaped; every part of a subject or
 * line that comes from a client must have its own limit.
 *
 * @param from.language of the words, as BCP 47 writes it
 * @param from.instance the name of the instance that sends it, which begins the subject and signs the mail
 */
export function composeMail(
  subject: string,
  lines: readonly MailLine[],
  { language = 'en', instance }: { language?: string; instance?: string | undefined } = {},
): MailText {
  const name = shortLine(instance ?? '', NAME_SHOWN);
  const all = name === '' ? lines : [...lines, name];
  const text = all.map(line => (typeof line === 'string' ? line : line.url)).join('\n\n');
  const html = all
    .map(line => {
      if (typeof line === 'string') return `<p>${escaped(line)}</p>`;
      const url = escaped(line.url);
      return `<p><a href="${url}">${url}</a></p>`;
    })
    .join('\n');
  return {
    subject: name === '' ? subject : `${name}: ${subject}`,
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="${language}"><body>\n${html}\n</body></html>\n`,
  };
}

/**
 * Writes mails with the words of an area of the catalogue, in the languages of their readers.
 *
 * @param instance the name of the instance that sends them, if it has one
 */
export function mailWriter<Key extends string>(
  wordsIn: (language: string | undefined) => Words<Key>,
  instance: string | undefined,
) {
  return (
    language: string | undefined,
    subject: Key,
    linesOf: (t: Words<Key>['t']) => readonly MailLine[],
  ) => {
    const { t, language: tag } = wordsIn(language);
    return composeMail(t(subject), linesOf(t), { language: tag, instance });
  };
}
