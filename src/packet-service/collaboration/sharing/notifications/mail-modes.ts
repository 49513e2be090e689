import type { Database } from '../../../../platform/database/database.ts';
import { firstUuidAt } from '../../../core/packet-format/ulid.ts';
import { countMails } from './digest-store.ts';
import type { Notification } from './store.ts';

const HOUR_MS = 3600 * 1000;
/** Mails an hour to one address about what was shared with tokens. */
const MAILS_AN_HOUR = 20;
/** Mails an hour to one address about what was shared without a token. */
const OPEN_MAILS_AN_HOUR = 10;

/** How a recipient is mailed about a notification. */
export type MailMode = 'mail' | 'digest' | 'none';

/**
 * Nobody must be able to flood a recipient: beyond some mails an hour, what was shared with a token is said in one
 * digest, and nothing else is mailed. What is shared without a token, by anybody under any name, has an hour of its own,
 * so that it keeps back no mail of the others.
 *
 * @returns decides for one notification after the other of a transaction
 */
export function mailModes(
  database: Database,
): (address: string, notification: Pick<Notification, 'type' | 'author'>) => MailMode | Promise<MailMode> {
  const since = firstUuidAt(new Date(Date.now() - HOUR_MS));
  const counts = new Map<string, number>();
  return async (address, { type, author }) => {
    const isOpen = author === null;
    const limit = isOpen ? OPEN_MAILS_AN_HOUR : MAILS_AN_HOUR;
    const key = `${isOpen} ${address}`;
    const count = counts.get(key) ?? (await countMails(database, { address, isOpen }, since, limit));
    counts.set(key, count + 1);
    if (count < limit) return 'mail';
    return isOpen || type === 'invitation.sent' ? 'none' : 'digest';
  };
}
