import sql from 'sql-template-tag';
import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import type { Caller } from '../access/authentication.ts';
import { type Image, type Kind, lockImages } from './store.ts';

/** Kinds of records that carry images. */
export type Entity = 'company' | 'product';

/** A record that carries images. */
export interface ReferencingRecord {
  entity: Entity;
  entityId: number;
}

/** Whether something is so of the caller and at least one of these records, all of one kind. */
type OfOne = (
  database: Database,
  caller: Caller,
  entity: Entity,
  entityIds: readonly number[],
) => Promise<boolean>;

/** Whether the caller may see at least one of these records. */
export type MayRead = OfOne;

/** Whether at least one of these records is of the caller's own side: of a company that they act for, or their own. */
export type IsOwn = OfOne;

/** Who reads: the user, and how it is found out which records a user may see. */
export interface Reader {
  caller: Caller;
  mayRead: MayRead;
}

/** Who gives images to a record: the user, and how it is found out which records are of their side. */
export interface Writer {
  caller: Caller;
  isOwn: IsOwn;
}

/** An image that a field of a record names. */
export interface ImageReference {
  /** path of the field that names it, for the error, such as logo.storageKey */
  field: string;
  storageKey: string;
  /** what it has to be; without it an image or a document */
  kind?: Kind;
}

/**
 * Has a record carry these images and documents, and no others, from the end of the transaction on: whoever may see
 * the record may then read them, and they do not expire. To be called in the transaction that writes the record, which
 * holds the record's row; also when the record is removed, with none.
 *
 * A record may be given what its writer uploaded, what a record of their own side carries, and what this very record
 * carries already; a SYSTEM_ADMIN gives anything. What they may read only because a partner's record carries it is not
 * theirs to pass on: it would be theirs still when they are no partner any more.
 *
 * @param images those that the record names after this change; the same one may be named twice
 * @returns what is known of them, by storage key in lower case
 * @throws Problem invalid, with the field of every image that is unknown, not theirs to give or not of its kind
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
  const fields: Record<string, string> = {};
  for (const { field, storageKey, kind } of images) {
    const image = byKey.get(storageKey.toLowerCase());
    const isTheirs =
      image && (before.includes(image.storageKey) || (await mayGiveImage(database, writer, image)));
    if (!isTheirs) fields[field] = `${field} names nothing that was uploaded`;
    else if (kind && image.kind !== kind) fields[field] = `${field} must name an uploaded ${kind}`;
  }
  const [sentence] = Object.values(fields);
  if (sentence !== undefined) throw new Problem('invalid', sentence, { fields });

  const added = [...byKey.keys()].filter(key => !before.includes(key));
  const removed = before.filter(key => !byKey.has(key));
  if (added.length + removed.length > 0) await changeUses(database, { entity, entityId }, added, removed);
  return byKey;
}

/** Whether somebody may read an image or document: who uploaded it, a SYSTEM_ADMIN, who may see what carries it. */
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
  const { rows } = await database.query<{ entity: Entity; entityIds: number[] }>(sql`
    SELECT entity, array_agg(entity_id ORDER BY entity_id) AS "entityIds" FROM image_uses
    WHERE storage_key = ${storageKey} GROUP BY entity ORDER BY entity`);
  for (const { entity, entityIds } of rows) {
    if (await throughOne(database, caller, entity, entityIds)) return true;
  }
  return false;
}

/** The storage keys that a record carries. */
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
  await database.query(sql`
    UPDATE images SET unused_since = CASE
      WHEN EXISTS (SELECT 1 FROM image_uses WHERE image_uses.storage_key = images.storage_key) THEN NULL
      ELSE ${new Date()}::timestamptz END
    WHERE storage_key = ANY (${[...added, ...removed]}::uuid[])`);
}
