import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Fault, fault } from '../../../platform/http/reasons/catalogue.ts';
import type { Caller } from '../../base/access/authentication.ts';
import { type Image, type Kind, lockImages } from './store.ts';

/** Kinds of records that refer to images. */
export type Entity = 'company' | 'product' | 'label' | 'label_batch' | 'knowledge_blog';

/** A record that refers to images. */
export interface ReferencingRecord {
  entity: Entity;
  entityId: number;
}

/** A check of the caller and a list of records of one kind; true if it holds for at least one. */
type OfOne = (
  database: Database,
  caller: Caller,
  entity: Entity,
  entityIds: readonly number[],
) => Promise<boolean>;

/** Whether the caller may see at least one of these records. */
export type MayRead = OfOne;

/** Whether at least one of these records belongs to a company that the caller acts for, or to the caller. */
export type IsOwn = OfOne;

/** The reader, with the check of which records they may see. */
export interface Reader {
  caller: Caller;
  mayRead: MayRead;
}

/** The writer of a record, with the check of which records are theirs. */
export interface Writer {
  caller: Caller;
  isOwn: IsOwn;
}

/** A reference to an image in a field of a record. */
export interface ImageReference {
  /** path of the field, for the error, such as logo.storageKey */
  field: string;
  storageKey: string;
  /** the required kind; by default an image or a document */
  kind?: Kind;
}

/**
 * Replaces the references of a record to images and documents: everyone who may see the record may then read them,
 * and they do not expire. To be called in the transaction that writes the record, which holds its row lock; also,
 * with none, when the record is deleted.
 *
 * A record may refer to what its writer uploaded, what another record of theirs refers to, and what it already refers
 * to; a SYSTEM_ADMIN may use anything. Images that they can only read through a partner's record cannot be used: they
 * would keep them when they are not a partner anymore.
 *
 * @param images the references after this change; repetitions are allowed
 * @returns the images, by storage key in lower case
 * @throws Problem invalid, with the field of every image that is unknown, not theirs or of the wrong kind
 */
export async function setReferences(
  database: Database,
  writer: Writer,
  { entity, entityId }: ReferencingRecord,
  images: readonly ImageReference[],
): Promise<Map<string, Image>> {
  const before = await findCarried(database, { entity, entityId });
  const named = images.map(({ storageKey }) => storageKey.toLowerCase());
  const locked = await lockImages(database, [...named, ...before]);
  const byKey = new Map(
    locked.filter(({ storageKey }) => named.includes(storageKey)).map(image => [image.storageKey, image]),
  );
  const faults: Fault[] = [];
  for (const { field, storageKey, kind } of images) {
    const image = byKey.get(storageKey.toLowerCase());
    const isTheirs =
      image && (before.includes(image.storageKey) || (await mayGiveImage(database, writer, image)));
    if (!isTheirs) faults.push(fault('file.unknown_storage_key', { field }));
    else if (kind && image.kind !== kind) faults.push(fault('file.other_kind', { field, kind }));
  }
  if (faults.length > 0) throw new Problem(faults);

  const added = [...byKey.keys()].filter(key => !before.includes(key));
  const removed = before.filter(key => !byKey.has(key));
  if (added.length + removed.length > 0) await changeUses(database, { entity, entityId }, added, removed);
  return byKey;
}

/**
 * Whether a user may read an image or document: its uploader, a SYSTEM_ADMIN, and everyone who may see a record that
 * refers to it.
 */
export async function mayReadImage(
  database: Database,
  { caller, mayRead }: Reader,
  image: Image,
): Promise<boolean> {
  return isForCaller(database, caller, image, mayRead);
}

async function mayGiveImage(database: Database, { caller, isOwn }: Writer, image: Image): Promise<boolean> {
  return isForCaller(database, caller, image, isOwn);
}

async function isForCaller(
  database: Database,
  caller: Caller,
  { storageKey, userId }: Image,
  throughOne: OfOne,
): Promise<boolean> {
  if (caller.id === userId || caller.role === 'SYSTEM_ADMIN') return true;
  for (const { entity, entityIds } of await findUses(database, storageKey)) {
    if (await throughOne(database, caller, entity, entityIds)) return true;
  }
  return false;
}

/** Whether everyone may see an image or document in one of these records. */
export type IsPublic = (
  database: Database,
  entity: Entity,
  entityIds: readonly number[],
  storageKey: string,
) => Promise<boolean>;

/** Whether everyone may read an image or document, because a published record shows it. */
export async function isPublicImage(
  database: Database,
  isPublic: IsPublic,
  { storageKey }: Pick<Image, 'storageKey'>,
): Promise<boolean> {
  for (const { entity, entityIds } of await findUses(database, storageKey)) {
    if (await isPublic(database, entity, entityIds, storageKey)) return true;
  }
  return false;
}

/** Ends all references of deleted records, in the transaction that deletes them. */
export async function dropReferences(
  database: Database,
  entity: Entity,
  entityIds: readonly number[],
): Promise<void> {
  const { rows } = await database.query<{ storageKey: string }>(sql`
    SELECT DISTINCT storage_key AS "storageKey" FROM image_uses
    WHERE entity = ${entity} AND entity_id = ANY (${entityIds}::integer[])`);
  if (rows.length === 0) return;
  const keys = rows.map(({ storageKey }) => storageKey);
  await lockImages(database, keys);
  await database.query(sql`
    DELETE FROM image_uses WHERE entity = ${entity} AND entity_id = ANY (${entityIds}::integer[])`);
  await markUnused(database, keys);
}

/** The records that refer to an image or document, by kind. */
export async function findUses(
  database: Database,
  storageKey: string,
): Promise<{ entity: Entity; entityIds: number[] }[]> {
  const { rows } = await database.query<{ entity: Entity; entityIds: number[] }>(sql`
    SELECT entity, array_agg(entity_id ORDER BY entity_id) AS "entityIds" FROM image_uses
    WHERE storage_key = ${storageKey} GROUP BY entity ORDER BY entity`);
  return rows;
}

/** The storage keys that a record refers to. */
async function findCarried(database: Database, { entity, entityId }: ReferencingRecord): Promise<string[]> {
  const { rows } = await database.query<{ storageKey: string }>(sql`
    SELECT storage_key AS "storageKey" FROM image_uses WHERE entity = ${entity} AND entity_id = ${entityId}`);
  return rows.map(({ storageKey }) => storageKey);
}

async function changeUses(
  database: Database,
  { entity, entityId }: ReferencingRecord,
  added: readonly string[],
  removed: readonly string[],
): Promise<void> {
  await database.query(sql`
    DELETE FROM image_uses
    WHERE entity = ${entity} AND entity_id = ${entityId} AND storage_key = ANY (${removed}::uuid[])`);
  await database.query(sql`
    INSERT INTO image_uses (storage_key, entity, entity_id)
    SELECT storage_key, ${entity}, ${entityId}::integer FROM unnest(${added}::uuid[]) AS added (storage_key)`);
  await markUnused(database, [...added, ...removed]);
}

/** Notes which of these images no record refers to any more, from now on. */
async function markUnused(database: Database, storageKeys: readonly string[]): Promise<void> {
  await database.query(sql`
    UPDATE images SET unused_since = CASE
      WHEN EXISTS (SELECT 1 FROM image_uses WHERE image_uses.storage_key = images.storage_key) THEN NULL
      ELSE ${new Date()}::timestamptz END
    WHERE storage_key = ANY (${storageKeys}::uuid[])`);
}
