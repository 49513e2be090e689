import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import type { Database } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { attachmentIdText } from '../../core/packet-format/attachment-ids.ts';
import { uuidToUlid } from '../../core/packet-format/ulid.ts';
import { findCarriers } from '../../core/packets/attachment-store.ts';
import { contentKey } from '../../intake/attachments/store-attachment.ts';
import {
  findAttachmentsOf,
  isUsed,
  listContents,
  type UsedContent,
} from '../../intake/attachments/verify-store.ts';
import type { Mismatch } from './range.ts';

/** Contents that one statement reads. */
const BATCH = 500;
/** Files that are read at once. */
const AT_ONCE = 4;
/** Packets that are named of those which lack a file. */
const NAMED = 5;

/** The result for a file. */
export interface FileResult {
  /** attachments that have it */
  attachments: number;
  /** that were read */
  bytes: number;
  mismatches: Mismatch[];
}

/** Reads the file of every attachment again, each content once, and compares its hash and size with its rows. */
export async function verifyFiles(
  database: Database,
  files: FileStore,
  onResult: (result: FileResult) => void,
): Promise<void> {
  const limit = pLimit(AT_ONCE);
  let after: string | undefined;
  for (;;) {
    const contents = await listContents(database, after, BATCH);
    await limit.map(contents, async content => onResult(await verifyContent(database, files, content)));
    if (contents.length < BATCH) return;
    after = contents.at(-1)?.sha256;
  }
}

async function verifyContent(
  database: Database,
  files: FileStore,
  content: UsedContent,
): Promise<FileResult> {
  const { sha256, size, attachments, attachmentId, oneSize, known } = content;
  const file = await hashFile(files, contentKey(sha256));
  const faults = [
    ...(oneSize && (file.size === size || file.sha256 === undefined) ? [] : ['attachments.size']),
    ...(known ? [] : ['attachment_contents']),
    ...(file.sha256 === sha256
      ? []
      : [file.fault ?? `its file has the hash ${file.sha256} and not ${sha256}`]),
  ];
  const subject = `attachment ${attachmentIdText(attachmentId)}`;
  // Since its row was read, an attachment may have expired or been erased.
  const stillThere = faults.length === 0 || (await isUsed(database, sha256));
  const mismatches: Mismatch[] = faults.map(fault => ({ subject, fault }));
  if (file.fault !== undefined) {
    const fault = `${file.fault}${await carriersOf(database, sha256)}`;
    mismatches.splice(-1, 1, { subject, fault, ...(file.isMissing && { isMissingFile: true }) });
  }
  return { attachments, bytes: file.size, mismatches: stillThere ? mismatches : [] };
}

/** The packets that are without a file now, in words: the first of them, for a content that many have. */
async function carriersOf(database: Database, sha256: string): Promise<string> {
  const carriers: string[] = [];
  for (const id of await findAttachmentsOf(database, sha256, NAMED)) {
    for (const packet of await findCarriers(database, id, NAMED + 1)) {
      const text = uuidToUlid(packet);
      if (!carriers.includes(text)) carriers.push(text);
    }
    if (carriers.length > NAMED) break;
  }
  if (carriers.length === 0) return '; no packet has it';
  const named = carriers.sort().slice(0, NAMED).join(', ');
  return `; it belongs to packet ${named}${carriers.length > NAMED ? ' and others' : ''}`;
}

/** Hash and size of a file; without a hash, why it cannot be read. */
async function hashFile(
  files: FileStore,
  key: string,
): Promise<{ sha256?: string; size: number; fault?: string; isMissing?: boolean }> {
  const hash = createHash('sha256');
  let size = 0;
  try {
    await pipeline(await files.read(key), async chunks => {
      for await (const chunk of chunks) {
        size += chunk.length;
        hash.update(chunk);
      }
    });
    return { sha256: hash.digest('hex'), size };
  } catch (error) {
    const isMissing = error instanceof Problem && error.code === 'internal';
    return { size, isMissing, fault: `its file cannot be read: ${(error as Error).message}` };
  }
}
