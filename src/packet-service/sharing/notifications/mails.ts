import { composeMail, type MailText } from '../../../platform/mail/mail-text.ts';
import { plainName } from '../../../platform/mail/plain-name.ts';
import { uuidToUlid } from '../../packet/ulid.ts';
import { SECRET_DAYS } from '../directory/secret.ts';
import type { Notification } from './store.ts';

/** Characters of a user identifier that a mail shows, at most. */
const SHOWN = 64;

/**
 * The mails. Nothing that a client sent is ever in a subject or another header. The text contains user identifiers,
 * on one line, truncated and defanged, so that nobody can use one to write a message or a link.
 *
 * @param publicUrl base URL of links, without a trailing slash
 */
export function mailTexts(publicUrl: string) {
  return {
    /** A packet was shared with a user. */
    shareCreated({ packetId, shareId, userId, fromUser }: Notification): MailText {
      const inbox = `${publicUrl}/shares/inbox?${new URLSearchParams({ user_id: userId ?? '' })}`;
      return composeMail('An observation was shared with you', [
        `${shown(fromUser)} shared an observation from the field with you:`,
        { url: `${publicUrl}/packets/${uuidToUlid(packetId)}` },
        'It waits in your inbox, where you accept or reject it:',
        { url: inbox },
        `Number of the share: ${uuidToUlid(shareId)}`,
      ]);
    },

    /** An invitation to the reader of an address. */
    invitationSent({ fromUser }: Notification, secret: string): MailText {
      return composeMail('You are invited to observations from the field', [
        `${shown(fromUser)} wants to share an observation from the field with you. It waits until you let others ` +
          'find you by this address. To do that, open this link in your field app, or enter the code there:',
        { url: invitationUrl(publicUrl, secret) },
        `Code: ${secret}`,
        `It works once, for ${SECRET_DAYS} days. If you do not know what this is about, do nothing.`,
      ]);
    },

    /** A confirmation of an address. */
    confirmContact(userId: string, secret: string): MailText {
      return composeMail('Confirm your address', [
        `${confirmationOpening(userId)} that this is their address, and wants what is shared with it. If that is ` +
          'you, open this link in your field app, or enter the code there:',
        { url: `${publicUrl}/directory/confirmations/${secret}` },
        `Code: ${secret}`,
        `It works once, for ${SECRET_DAYS} days. If that is not you, do nothing.`,
      ]);
    },
  };
}

/** The first words of a confirmation mail. */
export function confirmationOpening(userId: string): string {
  return `The user ${shown(userId)} says`;
}

export function invitationUrl(publicUrl: string, secret: string): string {
  return `${publicUrl}/invitations/${secret}`;
}

/** A user identifier in quotes, in which mail programs recognise no link. */
function shown(user: string): string {
  return `"${plainName(user, SHOWN)}"`;
}
