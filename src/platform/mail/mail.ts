import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { SendMailOptions } from 'nodemailer';
import { makeFolder, writeWhole } from '../files/whole-file.ts';
import type { Settings } from '../settings/settings.ts';

/** One mail to one address. */
export interface Mail {
  /** identifies the mail, also to servers: a repeated mail has the same id; letters, digits and - */
  id: string;
  /** an email address and nothing else: no name, no list */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** the id of the user whom it names to the recipient */
  names?: string | undefined;
}

export interface Mailer {
  /** whether mails go to a mail server; otherwise each is only written to a file, and reaches nobody */
  readonly hasServer: boolean;
  /**
   * Sends a mail: returns when the server has accepted it, or the file is on disk.
   *
   * @param signal aborts the attempt
   * @throws MailRefused if the server refuses this mail permanently; another error otherwise. The messages contain no
   *   address and no credentials; of what the server says about a mail, one bounded line
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  /**
   * Deletes mails to these addresses that are kept as files.
   *
   * @param text that a mail must contain, for addresses that are not only the user's
   */
  forget(addresses: readonly string[], text?: string): Promise<void>;
  /** Deletes mails that are kept as files and name a user to others. */
  forgetNaming(userId: string): Promise<void>;
  close(): void;
}

/** The mail server refused a mail permanently (a 5xx reply to address or content). */
export class MailRefused extends Error {}

type MailSettings = Pick<Settings, 'SMTP_URL' | 'MAIL_FROM' | 'DATA_DIR'>;

/** Sends by SMTP_URL where there is one, and otherwise writes each mail as a file: DATA_DIR/mail/<id>.eml. */
export function makeMailer(settings: MailSettings): Mailer {
  return settings.SMTP_URL ? smtpMailer(settings.SMTP_URL, settings.MAIL_FROM) : fileMailer(settings);
}

/** The mail server of SMTP_URL, as `host:port`; undefined without one. */
export function mailServerOf({ SMTP_URL }: Pick<Settings, 'SMTP_URL'>): string | undefined {
  if (SMTP_URL === undefined) return undefined;
  const { hostname, port, protocol } = new URL(SMTP_URL);
  // The defaults of nodemailer.
  return `${hostname}:${port || (protocol === 'smtps:' ? 465 : 587)}`;
}

/** Maximum connections to the mail server. */
const CONNECTIONS = 3;
const TIMEOUT_MS = 10_000;

function smtpMailer(url: string, from: string): Mailer {
  let transport: ReturnType<typeof openTransport> | undefined;
  return {
    hasServer: true,
    async send(mail, signal) {
      transport ??= openTransport(url);
      const { sendMail } = await transport;
      try {
        await sendMail({ ...message(mail, from), signal });
      } catch (error) {
        throw readFailure(error as SmtpError, mail.to);
      }
    },
    async forget() {},
    async forgetNaming() {},
    close: () => transport?.then(({ close }) => close()),
  };
}

/** The timeouts of each step. */
function timeouts(ms: number) {
  return { connectionTimeout: ms, greetingTimeout: ms, socketTimeout: ms, dnsTimeout: ms };
}

/** nodemailer is imported for the first mail: it would be a twentieth of the time that a start takes. */
async function openTransport(url: string) {
  const { createTransport } = await import('nodemailer');
  const pooled = { pool: true, maxConnections: CONNECTIONS, maxRequeues: 0 } as const;
  const transport = createTransport({ url, ...pooled, ...timeouts(TIMEOUT_MS) });
  // Each failed send is reported to its caller; without a listener a broken idle connection would end the process.
  transport.on('error', () => {});
  return {
    sendMail: (mail: SendMailOptions & { signal: AbortSignal }) => transport.sendMail(mail),
    close: () => transport.close({ force: true }),
  };
}

/**
 * Greets the mail server and logs in, without sending anything.
 *
 * @param timeoutMs for each step, in milliseconds
 * @throws MailRefused if the server refuses the login or the greeting; Error if it cannot be reached
 */
export async function tryMailServer(url: string, timeoutMs: number): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ url, ...timeouts(timeoutMs) });
  try {
    await transport.verify();
  } catch (error) {
    const { code, responseCode } = error as SmtpError;
    if (code === 'EAUTH') {
      const answered = responseCode === undefined ? '' : ` (${responseCode})`;
      throw new MailRefused(`the mail server does not accept the login${answered}`, { cause: error });
    }
    throw readFailure(error as SmtpError, '');
  } finally {
    transport.close();
  }
}

interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
  /** what the server answered */
  response?: string;
  permanent?: boolean;
}

function readFailure({ code, responseCode, response, permanent }: SmtpError, to: string): Error {
  // A refused login or greeting concerns our configuration and can be fixed; a refused address or content concerns
  // this mail. Only of the latter is the text quoted: that of a login may repeat what was sent.
  const concernsMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const text = concernsMail && response ? `: ${quoted(response, to)}` : '';
  if (permanent && concernsMail) {
    return new MailRefused(`the mail server refused the mail (${responseCode})${text}`);
  }
  if (responseCode !== undefined) return new Error(`the mail server answered ${responseCode}${text}`);
  return new Error(`the mail server could not be reached (${code ?? 'no reason given'})`);
}

/** Maximum characters that are quoted of what a mail server says. */
const QUOTED = 200;

/** The mail server's message on one line, without its code and without addresses. */
function quoted(response: string, to: string): string {
  const text = response
    .slice(0, 10 * QUOTED)
    .replaceAll(to, '…')
    .replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, '…')
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .replace(/^\d{3}[ -]/, '')
    .trim();
  return text.length > QUOTED ? `${text.slice(0, QUOTED)}…` : text;
}

/** The header of a mail that is kept as a file, with the id of the user whom it names. */
const NAMES = 'X-Names-User';

function fileMailer({ DATA_DIR, MAIL_FROM }: MailSettings): Mailer {
  const folder = path.resolve(DATA_DIR, 'mail');
  return {
    hasServer: false,
    async send(mail) {
      const { createTransport } = await import('nodemailer');
      const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
      const composed = message(mail, MAIL_FROM);
      const headers = { ...composed.headers, ...(mail.names !== undefined && { [NAMES]: mail.names }) };
      const { message: bytes } = await composer.sendMail({ ...composed, headers });
      try {
        await makeFolder(folder);
        await writeWhole(folder, `${mail.id}.eml`, bytes as Buffer);
      } catch (error) {
        throw new Error(`the mail could not be written (${(error as NodeJS.ErrnoException).code})`);
      }
    },
    async forget(addresses, text = '') {
      const wanted = new Set(addresses.map(address => address.toLowerCase()));
      if (wanted.size === 0) return;
      await removeMails(folder, raw => wanted.has(recipientOf(raw)) && decoded(raw).includes(text));
    },
    async forgetNaming(userId) {
      await removeMails(folder, raw => raw.slice(0, raw.indexOf('\n\n')).includes(`\n${NAMES}: ${userId}\n`));
    },
    close() {},
  };
}

/** Removes the mails of a folder that are to be removed by what they contain. */
async function removeMails(folder: string, isRemoved: (raw: string) => boolean): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter(name => name.endsWith('.eml'))) {
    const file = path.join(folder, name);
    const raw = await readFile(file, 'utf8').catch(() => '');
    if (isRemoved(raw)) await rm(file, { force: true });
  }
}

/** A mail with its parts decoded: those with letters beyond ASCII are quoted-printable (RFC 2045). */
function decoded(raw: string): string {
  return raw.split('\n--').map(decodedPart).join('\n--');
}

function decodedPart(part: string): string {
  const head = part.slice(0, part.indexOf('\n\n'));
  if (!/^Content-Transfer-Encoding: quoted-printable$/im.test(head)) return part;
  const bytes = part
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** The recipient of a mail that is kept as a file, in lower case; empty without one. */
function recipientOf(raw: string): string {
  return /^To: <?([^>\s]+)>?$/im.exec(raw.slice(0, raw.indexOf('\n\n')))?.[1]?.toLowerCase() ?? '';
}

/**
 * The message. The address is alone in its field, so that nothing in it can become a second address or another
 * header, and no content of a mail is ever interpreted as a path or a URL to fetch.
 */
function message({ id, to, subject, text, html }: Mail, from: string): SendMailOptions {
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId: `<${id}@${domainOf(from)}>`,
    // Automatic replies must not come back (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function domainOf(from: string): string {
  return /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost';
}
