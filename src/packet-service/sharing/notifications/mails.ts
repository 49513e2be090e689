import { composeMail, type MailLine, type MailText } from '../../../platform/mail/mail-text.ts';
import { plainName } from '../../../platform/mail/plain-name.ts';
import { uuidToUlid } from '../../packet-format/ulid.ts';
import { SECRET_DAYS } from '../directory/secret.ts';
import type { Notification } from './store.ts';

/** Base URLs of links, without a trailing slash. */
export interface MailAddresses {
  /** of the packet service */
  publicUrl: string;
  /** of the console, if links lead to it */
  consoleUrl: string | undefined;
}

/** Who has sent a share or an invitation. */
export interface Sender {
  id: string;
  /** undefined if it is not known, or not proven that the sender is this user */
  name: string | undefined;
}

/** Characters of a user's name or identifier that a mail shows, at most. */
const SHOWN = 64;

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
  const compose = (subject: string, lines: readonly MailLine[]) => composeMail(subject, lines, { instance });
  const inApp = consoleUrl === undefined ? ' in your field app, or enter the code there:' : ':';
  return {
    /** A packet was shared with a user. */
    shareCreated(sender: Sender, { packetId, shareId, userId }: Notification): MailText {
      const inbox =
        consoleUrl === undefined
          ? `${publicUrl}/shares/inbox?${new URLSearchParams({ user_id: userId ?? '' })}`
          : `${consoleUrl}/inbox`;
      return compose('An observation was shared with you', [
        `${nameOf(sender)} shared an observation from the field with you:`,
        { url: `${consoleUrl ?? publicUrl}/packets/${uuidToUlid(packetId)}` },
        'It waits in your inbox, where you accept or decline it:',
        { url: inbox },
        `Number of the share: ${uuidToUlid(shareId)}`,
      ]);
    },

    /** An invitation to the reader of an address. */
    invitationSent(sender: Sender, secret: string): MailText {
      return compose('You are invited to observations from the field', [
        `${nameOf(sender)} wants to share an observation from the field with you. It waits until you let others ` +
          `find you by this address. To do that, open this link${inApp}`,
        { url: invitationUrl(addresses, secret) },
        `Code: ${secret}`,
        `It works once, for ${SECRET_DAYS} days. If you do not know what this is about, do nothing.`,
      ]);
    },

    /** A confirmation of an address. */
    confirmContact(userId: string, secret: string): MailText {
      return compose('Confirm your address', [
        `${confirmationOpening(userId)} that this is their address, and wants what is shared with it. If that is ` +
          `you, open this link${inApp}`,
        {
          url:
            consoleUrl === undefined
              ? `${publicUrl}/directory/confirmations/${secret}`
              : `${consoleUrl}/inbox?confirmation=${secret}`,
        },
        `Code: ${secret}`,
        `It works once, for ${SECRET_DAYS} days. If that is not you, do nothing.`,
      ]);
    },
  };
}

/** The first words of a confirmation mail. */
export function confirmationOpening(userId: string): string {
  return /^User /.test(shown(userId)) ? `${shown(userId)} says` : `The user ${shown(userId)} says`;
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
