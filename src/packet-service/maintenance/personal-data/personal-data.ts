import type pg from 'pg';
import { rowsOf } from '../../../platform/database/cursor.ts';
import { type Connection, openPool, transaction, withPool } from '../../../platform/database/database.ts';
import { type FileStore, openFileStore } from '../../../platform/files/index.ts';
import { forgetJobs } from '../../../platform/jobs/store.ts';
import { makeMailer } from '../../../platform/mail/mail.ts';
import {
  EXPORTS,
  jsonFile,
  type PersonalData,
  type PersonalFile,
  rowsFile,
  safeName,
  storedFile,
} from '../../../platform/personal-data/personal-data.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { type PersonalThread, threadsOf } from '../../collaboration/chat/threads/personal-store.ts';
import { eraseReadMarks } from '../../collaboration/chat/threads/read-mark-store.ts';
import { findThreadIds } from '../../collaboration/chat/threads/store.ts';
import { eraseEntry, findLookups } from '../../collaboration/sharing/directory/personal-store.ts';
import { findEntry, lockContacts } from '../../collaboration/sharing/directory/store.ts';
import { JOBS_SCHEMA } from '../../collaboration/sharing/notifications/channels.ts';
import { confirmationOpening } from '../../collaboration/sharing/notifications/mails.ts';
import {
  eraseNotifications,
  notificationsOf,
  type PersonalNotification,
} from '../../collaboration/sharing/notifications/personal-store.ts';
import {
  eraseContacts,
  type PersonalShare,
  sharesOf,
} from '../../collaboration/sharing/shares/personal-store.ts';
import { fieldsBy } from '../../core/geoids/personal-store.ts';
import { eraseKeys, storedAnswersOf } from '../../core/idempotency/personal-store.ts';
import { uuidToUlid } from '../../core/packet-format/ulid.ts';
import { packetsBy, type StoredPacket } from '../../core/packets/personal-store.ts';
import { SCHEMA } from '../../core/pools.ts';
import { eraseOwnFiles } from '../../intake/attachments/erase-own.ts';
import {
  attachmentsBy,
  type PersonalAttachment,
  uploadsBy,
} from '../../intake/attachments/personal-store.ts';
import { contentKey } from '../../intake/attachments/store-attachment.ts';
import { hasTables } from './store.ts';

/** Longest wait for the server's next rows, in milliseconds: there is no index for the packets of a user. */
const SILENCE_MS = 10 * 60_000;
const FOLDER = 'packet-service';

/** The personal data in the packet service, read over separate connections. */
export function packetPersonalData(settings: Settings, connection: Connection): PersonalData {
  const deadline = { ms: SILENCE_MS, of: 'silence' } as const;
  const exports = openPool(connection, SCHEMA, EXPORTS, { deadline });
  const files = openFileStore(settings);
  return {
    isHere: () => hasTables(exports),
    async *files(userId) {
      const entry = await findEntry(exports, userId);
      const lookups = await findLookups(exports, userId);
      const threadIds = await findThreadIds(exports, userId, { openOnly: false });
      yield jsonFile(`${FOLDER}/directory.json`, { entry, lookups });
      yield packetsFile(exports, userId, threadIds);
      yield* tables(exports, userId);
      yield* uploadsOf(exports, files, userId);
    },
    // On a separate connection, so that it does not wait for an export.
    erase: (userId, contacts) =>
      withPool(connection, SCHEMA, pool => erase({ pool, files, settings }, userId, contacts)),
    close: () => exports.end(),
  };
}

async function erase(
  { pool, files, settings }: { pool: pg.Pool; files: FileStore; settings: Settings },
  userId: string,
  known: readonly string[],
): Promise<void> {
  const listed = (await findEntry(pool, userId))?.contacts ?? [];
  // A contact that is not proven may be another person's, and so may what waits for it.
  const proven = listed.filter(({ proof }) => proof !== 'none').map(({ contact }) => contact);
  const contacts = [...new Set([...known, ...proven])];
  await transaction(pool, async database => {
    await lockContacts(database, contacts);
    await eraseEntry(database, userId, contacts);
    await eraseContacts(database, userId, contacts);
    await eraseNotifications(database, userId, contacts);
    await eraseKeys(database, userId);
    await forgetJobs(database, JOBS_SCHEMA, 'userId', userId);
    for (const contact of contacts) await forgetJobs(database, JOBS_SCHEMA, 'address', contact);
  });
  // A statement of its own: on a cluster, marks are in shards.
  await eraseReadMarks(pool, userId);
  await eraseOwnFiles(pool, files, userId);
  const mailer = makeMailer(settings);
  await mailer.forget(contacts);
  const claimed = listed.map(({ contact }) => contact);
  await mailer.forget(claimed, confirmationOpening(userId));
  mailer.close();
}

async function* uploadsOf(exports: pg.Pool, files: FileStore, userId: string): AsyncGenerator<PersonalFile> {
  for await (const rows of rowsOf<PersonalAttachment>(exports, attachmentsBy(userId))) {
    for (const { attachmentId, sha256, name } of rows) {
      const path = `${FOLDER}/files/${idOf(attachmentId)}-${safeName(name)}`;
      const file = await storedFile(files, path, contentKey(sha256));
      if (file) yield file;
    }
  }
}

function packetsFile(pool: pg.Pool, userId: string, threadIds: readonly string[]): PersonalFile {
  // Joined, not parsed, so that each line still matches its Footer.hash.
  return rowsFile<StoredPacket>(
    pool,
    `${FOLDER}/packets.ndjson`,
    packetsBy(userId, threadIds),
    ({ header, body, footer }) => `{"Header":${header},"Body":${body},"Footer":${footer}}`,
  );
}

function* tables(pool: pg.Pool, userId: string): Generator<PersonalFile> {
  yield rowsFile<PersonalThread>(pool, `${FOLDER}/threads.ndjson`, threadsOf(userId), thread => ({
    thread_id: uuidToUlid(thread.threadId),
    name: thread.name,
    created_by: thread.createdBy,
    created_at: thread.createdAt,
    participants: thread.participants,
    read_position: thread.readPosition === null ? null : Number(thread.readPosition),
  }));
  yield rowsFile<PersonalShare>(pool, `${FOLDER}/shares.ndjson`, sharesOf(userId), share => ({
    share_id: uuidToUlid(share.shareId),
    packet_id: uuidToUlid(share.packetId),
    from_user: share.fromUser,
    to_user: share.toUser,
    contact_value: share.contact,
    status: share.status,
    created_at: share.createdAt,
  }));
  yield rowsFile<PersonalNotification>(
    pool,
    `${FOLDER}/notifications.ndjson`,
    notificationsOf(userId),
    notification => ({
      notification_id: uuidToUlid(notification.notificationId),
      type: notification.type,
      contact_value: notification.contact,
      packet_id: uuidToUlid(notification.packetId),
      share_id: uuidToUlid(notification.shareId),
      from_user: notification.fromUser,
      created_at: notification.createdAt,
      deliveries: notification.deliveries,
    }),
  );
  yield rowsFile<PersonalAttachment>(pool, `${FOLDER}/attachments.ndjson`, attachmentsBy(userId), file => ({
    attachment_id: idOf(file.attachmentId),
    name: file.name,
    content_type: file.contentType,
    size: Number(file.size),
    sha256: file.sha256,
    uploaded_at: file.uploadedAt,
  }));
  yield rowsFile(pool, `${FOLDER}/uploads.ndjson`, uploadsBy(userId));
  yield rowsFile(pool, `${FOLDER}/fields.ndjson`, fieldsBy(userId));
  yield rowsFile(pool, `${FOLDER}/answers.ndjson`, storedAnswersOf(userId));
}

function idOf(attachmentId: string): string {
  return `att_${uuidToUlid(attachmentId)}`;
}
