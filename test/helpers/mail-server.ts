import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { eventually } from './eventually.ts';

export interface ReceivedMail {
  /** the envelope's recipients */
  to: string[];
  /** header and content as received, with \n as line end */
  raw: string;
}

export interface MailServer {
  url: string;
  mails: ReceivedMail[];
  /** what it does with the next mails; `refuse` is for good, `busy` for now, `stall` takes it and never answers */
  behaviour: 'take' | 'refuse' | 'busy' | 'stall';
  /** whether it refuses every login; otherwise it takes every one */
  refusesLogins: boolean;
  /** attempts that came as far as a recipient */
  attempts: number;
  /** the mails, once this number has arrived for this address */
  mailsTo(address: string, count?: number): Promise<ReceivedMail[]>;
  stop(): Promise<void>;
}

/** A real SMTP server on loopback that can refuse, put off and stall. */
export async function mailServer(): Promise<MailServer> {
  const answer = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code });
  const smtp = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onAuth({ username }, _session, done) {
      if (server.refusesLogins) done(answer(535, 'wrong password'));
      else done(null, { user: username ?? '' });
    },
    onRcptTo({ address }, _session, done) {
      server.attempts++;
      if (server.behaviour === 'refuse') done(answer(550, `no such mailbox <${address}>`));
      else if (server.behaviour === 'busy') done(answer(451, 'try again later'));
      else done();
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', chunk => chunks.push(chunk));
      stream.on('end', () => {
        if (server.behaviour === 'stall') return;
        const to = session.envelope.rcptTo.map(({ address }) => address);
        server.mails.push({ to, raw: Buffer.concat(chunks).toString('utf8').replaceAll('\r\n', '\n') });
        done();
      });
    },
  });
  smtp.on('error', () => {});
  await new Promise<void>(resolve => {
    smtp.listen(0, '127.0.0.1', resolve);
  });
  const server: MailServer = {
    url: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    mails: [],
    behaviour: 'take',
    refusesLogins: false,
    attempts: 0,
    mailsTo: (address, count = 1) =>
      eventually(
        () => server.mails.filter(({ to }) => to.includes(address)),
        mails => mails.length >= count,
      ),
    stop: () => new Promise(resolve => smtp.close(() => resolve())),
  };
  return server;
}

/** The secret that a mail brings. */
export function tokenIn(mail: Pick<ReceivedMail, 'raw'> | undefined): string {
  return /^Code: ([\w-]{43})$/m.exec(textOf(mail))?.[1] ?? 'no token';
}

/** A mail with the lines rejoined that quoted-printable broke (RFC 2045 §6.7). */
export function textOf(mail: Pick<ReceivedMail, 'raw'> | undefined): string {
  return (mail?.raw ?? '').replaceAll('=\n', '').replaceAll('=3D', '=');
}
