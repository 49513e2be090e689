import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Fault, fault } from '../../../platform/http/reasons/catalogue.ts';
import type { Caller } from '../../base/access/authentication.ts';
import type { Entity, RecordKinds } from '../../base/records/kinds.ts';
import { type Image, type Kind, lockImages } from './store.ts';

/** A record that refers to images. */
export interface ReferencingRecord {
  entity: Entity;
  entityId: number;
}

/** A caller, and the kinds of records that decide which records they may read and own. */
export interface RecordAccess {
  caller: Caller;
  records: RecordKinds;
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
 * Replaces the references of a record to images and documents: everyone who may see the record may then read them, and
 * they do not expire. Call it in the transaction that writes the record, which holds its row lock.
 *
 * A record may refer to images that its writer uploaded, that another record of the writer refers to, and that it already
 * refers to; a SYSTEM_ADMIN may use any image. Images that the writer can read only through a partner's record are
 * refused: otherwise the writer would keep them after the partnership.
 *
 * @param images the references after this change; repetitions are allowed
 * @returns the images, by storage key in lower case
 * @throws Problem invalid, with the field of every image that is unknown, not allowed or of the wrong kind
 */
export async function setReferences(
  database: Database,
  writer: RecordAccess,
  { entity, entityId }: ReferencingRecord,
  images: readonly ImageReference[],
): Promise<Map<string, Image>> {
  const before = await findReferencedKeys(database, { entity, entityId });
  const keys = images.map(({ storageKey }) => storageKey.toLowerCase());
  const locked = await lockImages(database, [...keys, ...before]);
  const byKey = new Map(
    locked.filter(({ storageKey }) => keys.includes(storageKey)).map(image => [image.storageKey, image]),
  );
  const faults: Fault[] = [];
  for (const { field, storageKey, kind } of images) {
    const image = byKey.get(storageKey.toLowerCase());
    const isAllowed =
      image && (before.includes(image.storageKey) || (await isForCaller(database, writer, image, 'isOwn')));
    if (!isAllowed) faults.push(fault('file.unknown_storage_key', { field }));
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
export async function mayReadImage(database: Database, reader: RecordAccess, image: Image): Promise<boolean> {
  return isForCaller(database, reader, image, 'mayRead');
}

async function isForCaller(
  database: Database,
  { caller, records }: RecordAccess,
  { storageKey, userId }: Image,
  right: 'mayRead' | 'isOwn',
): Promise<boolean> {
  if (caller.id === userId || caller.role === 'SYSTEM_ADMIN') return true;
  for (const { entity, entityIds } of await findUses(database, storageKey)) {
    if (await records[entity][right](database, caller, entityIds)) return true;
  }
  return false;
}

/** Whether everyone may read an image or document, because a published record shows it. */
export async function isPublicImage(
  database: Database,
  records: RecordKinds,
  { storageKey }: Pick<Image, 'storageKey'>,
): Promise<boolean> {
  for (const { entity, entityIds } of await findUses(database, storageKey)) {
    if (await records[entity].isPublic(database, entityIds, storageKey)) return true;
  }
  return false;
}

/** Ends all references of deleted records and of their parts, in the transaction that deletes them. */
export async function dropReferences(
  database: Database,
  records: RecordKinds,
  entity: Entity,
  entityIds: readonly number[],
): Promise<void> {
  if (entityIds.length === 0) return;
  for (const [part, findParts] of Object.entries(records[entity].parts)) {
    await dropReferences(database, records, part as Entity, await findParts(database, entityIds));
  }
  const { rows } = await database.query<{ storageKey: string }>(sql`
    SELECT DISTINCT storage_key AS "storageKey" FROM image_uses
    WHERE entity = ${entity} AND entity_id = ANY (${entityIds}::integer[])`);
  if (rows.length === 0) return;
  const keys = rows.map(({ storageKey }) => storageKey);
  await lockImages(database, keys);
  await execute(
    database,
    sql`
    DELETE FROM image_uses WHERE entity = ${entity} AND entity_id = ANY (${entityIds}::integer[])`,
  );
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
async function findReferencedKeys(
  database: Database,
  { entity, entityId }: ReferencingRecord,
): Promise<string[]> {
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
  await execute(
    database,
    sql`
    DELETE FROM image_uses
    WHERE entity = ${entity} AND entity_id = ${entityId} AND storage_key = ANY (${removed}::uuid[])`,
  );
  await execute(
    database,
    sql`
    INSERT INTO image_uses (storage_key, entity, entity_id)
    SELECT storage_key, ${entity}, ${entityId}::integer FROM unnest(${added}::uuid[]) AS added (storage_key)`,
  );
  await markUnused(database, [...added, ...removed]);
}

/** Updates since when no record has referred to these images. */
async function markUnused(database: Database, storageKeys: readonly string[]): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE images SET unused_since = CASE
      WHEN EXISTS (SELECT 1 FROM image_uses WHERE image_uses.storage_key = images.storage_key) THEN NULL
      ELSE ${new Date()}::timestamptz END
    WHERE storage_key = ANY (${storageKeys}::uuid[])`,
  );
}
