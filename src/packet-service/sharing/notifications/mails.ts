import { composeMail, type MailText } from '../../../platform/mail/mail-text.ts';
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

/** Characters of a user identifier that a mail shows, at most. */
const SHOWN = 64;

/**
 * The mails. Nothing that a client sent is ever in a subject or another header. The text contains user identifiers,
 * on one line, truncated and defanged, so that nobody can use one to write a message or a link.
 *
 * @param addresses what links begin with
 */
export function mailTexts(addresses: MailAddresses) {
  const { publicUrl, consoleUrl } = addresses;
  const inApp = consoleUrl === undefined ? ' in your field app, or enter the code there:' : ':';
  return {
    /** A packet was shared with a user. */
    shareCreated({ packetId, shareId, userId, fromUser }: Notification): MailText {
      const inbox =
        consoleUrl === undefined
          ? `${publicUrl}/shares/inbox?${new URLSearchParams({ user_id: userId ?? '' })}`
          : `${consoleUrl}/inbox`;
      return composeMail('An observation was shared with you', [
        `${shown(fromUser)} shared an observation from the field with you:`,
        { url: `${consoleUrl ?? publicUrl}/packets/${uuidToUlid(packetId)}` },
        'It waits in your inbox, where you accept or decline it:',
        { url: inbox },
        `Number of the share: ${uuidToUlid(shareId)}`,
      ]);
    },

    /** An invitation to the reader of an address. */
    invitationSent({ fromUser }: Notification, secret: string): MailText {
      return composeMail('You are invited to observations from the field', [
        `${shown(fromUser)} wants to share an observation from the field with you. It waits until you let others ` +
          `find you by this address. To do that, open this link${inApp}`,
        { url: invitationUrl(addresses, secret) },
        `Code: ${secret}`,
        `It works once, for ${SECRET_DAYS} days. If you do not know what this is about, do nothing.`,
      ]);
    },

    /** A confirmation of an address. */
    confirmContact(userId: string, secret: string): MailText {
      return composeMail('Confirm your address', [
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

/** A user identifier in quotes, in which mail programs recognise no link; the number of a user is no name. */
function shown(user: string): string {
  return /^\d{1,15}$/.test(user) ? `User ${user}` : `"${plainName(user, SHOWN)}"`;
}
