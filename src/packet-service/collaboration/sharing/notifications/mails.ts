import type english from '../../../../../messages/en/services/shared-mails.json';
import { type MailLine, type MailText, mailWriter } from '../../../../platform/mail/mail-text.ts';
import { plainName } from '../../../../platform/mail/plain-name.ts';
import { readMessages, type Words } from '../../../../platform/messages/messages.ts';
import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { SECRET_DAYS } from '../directory/secret.ts';
import type { Notification } from './store.ts';

type Key = `shared-mails.${keyof typeof english}`;
type T = Words<Key>['t'];
const wordsIn = readMessages<Key>('services/shared-mails.json');

/** Base URLs of links, without a trailing slash. */
export interface MailAddresses {
  /** of the packet service */
  publicUrl: string;
  /** of the console, if links lead to it */
  consoleUrl: string | undefined;
}

/** The sender of a share or an invitation. */
export interface Sender {
  id: string;
  /** undefined if it is not known, or not proven that the sender is this user */
  name: string | undefined;
}

/** Maximum characters of a user's name or identifier that a mail shows. */
const SHOWN = 64;

/** What the service knows about the recipient of a mail, by address. */
export interface Reader {
  /** two letters; English if it is not known */
  language?: string | undefined;
  /** whether an account has the address: an active one, one that is not active yet, or none; undefined if not known */
  account?: 'active' | 'waiting' | 'none' | undefined;
}

/**
 * The mails. Nothing that a user sent is ever in a subject or another header, which has only the name that an
 * administrator gave the instance. The text contains the sender, on one line, truncated and defanged, so that nobody
 * can use a name to write a message or a link.
 *
 * @param addresses what links begin with
 * @param instance the name of the instance, if it has one
 */
export function mailTexts(addresses: MailAddresses, instance?: string) {
  const { publicUrl, consoleUrl } = addresses;
  const write = mailWriter(wordsIn, instance);
  return {
    /** A packet was shared with a user. */
    shareCreated: (
      sender: Sender,
      { packetId, shareId, userId }: Notification,
      { language }: Reader,
    ): MailText =>
      write(language, 'shared-mails.shared.subject', t => [
        t('shared-mails.shared.say', { sender: nameOf(sender) }),
        { url: `${consoleUrl ?? publicUrl}/packets/${uuidToUlid(packetId)}` },
        t('shared-mails.shared.answer'),
        { url: inboxUrl(addresses, userId) },
        `${t('shared-mails.shared.number')}: ${uuidToUlid(shareId)}`,
      ]),

    /** Several packets were shared with a user, beyond those that were mailed one by one. */
    sharesDigest: (count: number, userId: string | null, { language }: Reader): MailText =>
      write(language, 'shared-mails.digest.subject', t => [
        t('shared-mails.digest.say', { count }),
        { url: inboxUrl(addresses, userId) },
      ]),

    /** An invitation to the reader of an address. */
    invitationSent: (sender: Sender, contact: string, secret: string, reader: Reader): MailText =>
      write(reader.language, 'shared-mails.invited.subject', t => [
        t('shared-mails.invited.say', { sender: nameOf(sender) }),
        ...waysToRead(addresses, t, { contact, secret, reader }),
      ]),

    /** A confirmation of an address. */
    confirmContact: (userId: string, secret: string, { language }: Reader): MailText =>
      write(language, 'shared-mails.confirm.subject', t => {
        const asked =
          consoleUrl === undefined ? t('shared-mails.confirm.inApp') : t('shared-mails.confirm.open');
        const url =
          consoleUrl === undefined
            ? `${publicUrl}/directory/confirmations/${secret}`
            : `${consoleUrl}/inbox?confirmation=${secret}`;
        return [
          `${t('shared-mails.confirm.say', { sender: shown(userId) })} ${asked}`,
          { url },
          `${t('shared-mails.code')}: ${secret}`,
          t('shared-mails.confirm.over', { days: SECRET_DAYS }),
        ];
      }),
  };
}

/** The inbox of a user. */
function inboxUrl({ publicUrl, consoleUrl }: MailAddresses, userId: string | null): string {
  return consoleUrl === undefined
    ? `${publicUrl}/shares/inbox?${new URLSearchParams({ user_id: userId ?? '' })}`
    : `${consoleUrl}/inbox`;
}

/** How the reader gets to read what was shared: what is true of an account with the address, or of none. */
function waysToRead(
  addresses: MailAddresses,
  t: T,
  { contact, secret, reader: { account } }: { contact: string; secret: string; reader: Reader },
): MailLine[] {
  const { consoleUrl } = addresses;
  const over = t('shared-mails.invited.over', { days: SECRET_DAYS });
  const code = [`${t('shared-mails.code')}: ${secret}`, t('shared-mails.invited.found'), over];
  const link = { url: invitationUrl(addresses, secret) };
  if (consoleUrl === undefined) return [t('shared-mails.invited.inApp'), link, ...code];
  switch (account) {
    case undefined:
      return [t('shared-mails.invited.open'), link, ...code];
    case 'none': {
      // Browsers do not send the fragment: the address comes into no log.
      const registration = { url: `${consoleUrl}/register#${new URLSearchParams({ email: contact })}` };
      return [
        t('shared-mails.invited.register'),
        registration,
        t('shared-mails.invited.afterwards'),
        t('shared-mails.invited.other'),
        link,
        ...code,
      ];
    }
    case 'waiting':
      return [t('shared-mails.invited.wait'), { url: `${consoleUrl}/inbox` }];
    case 'active':
      return [
        t('shared-mails.invited.logIn'),
        { url: `${consoleUrl}/inbox` },
        t('shared-mails.invited.code'),
        ...code,
      ];
  }
}

/** The first sentence of a confirmation mail, in every language. */
export function confirmationOpening(userId: string): string {
  return `${shown(userId)} `;
}

/** The page where an invitation is accepted: of the console, which has the code filled in, or of the service. */
export function invitationUrl({ publicUrl, consoleUrl }: MailAddresses, secret: string): string {
  return consoleUrl === undefined
    ? `${publicUrl}/invitations/${secret}`
    : `${consoleUrl}/inbox?invitation=${secret}`;
}

/** The sender's name; without one the identifier. */
function nameOf({ id, name }: Sender): string {
  return name === undefined ? shown(id) : plainName(name, SHOWN);
}

/** A user identifier in quotes, in which mail programs recognise no link; the number of a user is no name. */
function shown(user: string): string {
  return /^\d{1,15}$/.test(user) ? `User ${user}` : `"${plainName(user, SHOWN)}"`;
}
