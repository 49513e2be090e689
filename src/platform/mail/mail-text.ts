/** The content of a mail, as text and HTML. */
export interface MailText {
  subject: string;
  text: string;
  html: string;
}

/** A paragraph of a mail: words, or a link. */
export type MailLine = string | { url: string };

/**
 * A mail of a few paragraphs and links, as text and as HTML. Everything in it is escaped; every part of a subject or
 * line that comes from a client must have its own limit.
 *
 * @param language of the words, as BCP 47 writes it
 */
export function composeMail(subject: string, lines: readonly MailLine[], language = 'en'): MailText {
  const text = lines.map(line => (typeof line === 'string' ? line : line.url)).join('\n\n');
  const html = lines
    .map(line => {
      if (typeof line === 'string') return `<p>${asHtml(line)}</p>`;
      const url = asHtml(line.url);
      return `<p><a href="${url}">${url}</a></p>`;
    })
    .join('\n');
  return {
    subject,
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="${language}"><body>\n${html}\n</body></html>\n`,
  };
}

/** Text as HTML shows it, also inside an attribute's quotes. */
export function asHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, character => entities[character] as string);
}
