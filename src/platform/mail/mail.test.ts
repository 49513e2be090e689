import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MailServer, mailServer } from '../../../test/helpers/mail-server.ts';
import { type Mail, MailRefused, makeMailer } from './mail.ts';

let server: MailServer;
let folder: string;
beforeAll(async () => {
  server = await mailServer();
  folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const MAIL_FROM = 'Field <no-reply@field.example>';
const bySmtp = (url = server.url) => makeMailer({ SMTP_URL: url, MAIL_FROM, DATA_DIR: folder });
const never = new AbortController().signal;
const mail = (changes: Partial<Mail> = {}): Mail => ({
  id: '01JD7Q2M8XW3N5R6T8V9Y0Z1A2',
  to: 'ben@example.org',
  subject: 'A subject',
  text: 'In words\n',
  html: '<p>In words</p>\n',
  ...changes,
});

/** Header fields of a mail by name, in lower case, unfolded. */
function headersOf(raw: string): Record<string, string> {
  const head = raw.slice(0, raw.indexOf('\n\n')).replaceAll(/\n[ \t]+/g, ' ');
  return Object.fromEntries(
    head.split('\n').map(line => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

test('a mail has one recipient, both forms of its text, and an id that stays the same when it is sent again', async () => {
  const mailer = bySmtp();
  await mailer.send(mail(), never);
  await mailer.send(mail(), never);
  mailer.close();
  const [first, second] = await server.mailsTo('ben@example.org', 2);
  expect(first?.to).toEqual(['ben@example.org']);
  const headers = headersOf(first?.raw as string);
  expect(headers).toMatchObject({
    from: 'Field <no-reply@field.example>',
    to: 'ben@example.org',
    subject: 'A subject',
    'auto-submitted': 'auto-generated',
    'message-id': '<01JD7Q2M8XW3N5R6T8V9Y0Z1A2@field.example>',
  });
  expect(headersOf(second?.raw as string)['message-id']).toBe(headers['message-id']);
  expect(first?.raw).toContain('Content-Type: text/plain');
  expect(first?.raw).toContain('Content-Type: text/html');
});

test('nothing in an address, a subject or a text becomes another header, recipient, path or URL', async () => {
  const mailer = bySmtp();
  const tricks = [
    'x@example.org\r\nBcc: victim@example.org',
    'x@example.org, victim@example.org',
    'x@example.org <victim@example.org>',
    '"victim@example.org" <x@example.org>',
    'victim@example.org>,<x@example.org',
    'group:victim@example.org;',
  ];
  for (const to of tricks) await mailer.send(mail({ to }), never).catch(() => {});
  await mailer.send(
    mail({ to: 'last@example.org', subject: 'a\r\nBcc: victim@example.org\r\n\r\nbody' }),
    never,
  );
  mailer.close();
  const [last] = await server.mailsTo('last@example.org');
  expect(last?.to).toEqual(['last@example.org']);
  expect(Object.keys(headersOf(last?.raw as string))).not.toContain('bcc');
  for (const { to } of server.mails) {
    expect(to).toHaveLength(1);
    expect(to).not.toContain('victim@example.org');
  }
});

test('what the server refuses for good is told from what may succeed later; neither error names the address', async () => {
  const mailer = bySmtp();
  server.behaviour = 'refuse';
  const refused = await mailer.send(mail(), never).catch(error => error);
  server.behaviour = 'busy';
  const busy = await mailer.send(mail(), never).catch(error => error);
  server.behaviour = 'take';
  mailer.close();
  expect(refused).toBeInstanceOf(MailRefused);
  expect(busy).not.toBeInstanceOf(MailRefused);
  expect([refused.message, busy.message]).toEqual([
    'the mail server refused the mail (550): no such mailbox <…>',
    'the mail server answered 451: try again later',
  ]);
});

test('a server that is not there, hangs up or says nothing costs an error, not the process', async () => {
  const gone = bySmtp('smtp://secret:password@127.0.0.1:1');
  const error = await gone.send(mail(), never).catch(reason => reason);
  expect(error.message).toMatch(/^the mail server could not be reached \(E\w+\)$/);
  gone.close();

  for (const behave of ['hang up', 'say nothing']) {
    const odd = createServer(socket => {
      socket.on('error', () => {});
      if (behave === 'hang up') socket.destroy();
    });
    await new Promise<void>(resolve => odd.listen(0, '127.0.0.1', resolve));
    const mailer = bySmtp(`smtp://127.0.0.1:${(odd.address() as AddressInfo).port}`);
    await expect(mailer.send(mail(), AbortSignal.timeout(300))).rejects.toThrow('the mail server');
    mailer.close();
    odd.close();
  }
});

test('without a server a mail is a file that only its owner reads, whole or not there', async () => {
  const mailer = makeMailer({ MAIL_FROM, DATA_DIR: path.join(folder, 'new', 'data') });
  await mailer.send(mail(), never);
  await mailer.send(mail({ text: 'Sent again\n' }), never);
  mailer.close();
  const directory = path.join(folder, 'new', 'data', 'mail');
  expect(await readdir(directory)).toEqual(['01JD7Q2M8XW3N5R6T8V9Y0Z1A2.eml']);
  const file = path.join(directory, '01JD7Q2M8XW3N5R6T8V9Y0Z1A2.eml');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  const raw = await readFile(file, 'utf8');
  expect(headersOf(raw.replaceAll('\r\n', '\n'))).toMatchObject({ to: 'ben@example.org' });
  expect(raw).toContain('Sent again');
});

test('a kept mail is deleted by what it contains, in whatever encoding the file has it', async () => {
  const mailer = makeMailer({ MAIL_FROM, DATA_DIR: path.join(folder, 'kept') });
  const texts = ['"a=b" says', '"a=b" dit que c’est vous', '"a=3Db" says', '"Zoé" dit que c’est vous'];
  const kept = async () => (await readdir(path.join(folder, 'kept', 'mail'))).sort();
  for (const [id, text] of texts.entries()) await mailer.send(mail({ id: String(id), text }), never);
  await mailer.forget(['other@example.org'], '"a=b" ');
  expect(await kept()).toEqual(['0.eml', '1.eml', '2.eml', '3.eml']);
  await mailer.forget(['BEN@example.org'], '"a=b" ');
  expect(await kept()).toEqual(['2.eml', '3.eml']);
  await mailer.forget(['ben@example.org'], '"Zoé" ');
  expect(await kept()).toEqual(['2.eml']);
  mailer.close();
});

test('a mail that cannot be written is an error that names no path', async () => {
  await writeFile(path.join(folder, 'file'), '');
  const mailer = makeMailer({ MAIL_FROM, DATA_DIR: path.join(folder, 'file') });
  await expect(mailer.send(mail(), never)).rejects.toThrow(/^the mail could not be written \(E[A-Z]+\)$/);
});
