import type { Database } from '../../../platform/database/database.ts';
import type { Caller } from '../access/authentication.ts';

/** Kinds of records that refer to images and documents. */
export type Entity = 'company' | 'product' | 'label' | 'label_batch' | 'knowledge_blog';

/** The functions that other features use for records of a kind. Each takes the ids of several records. */
export interface RecordKind {
  /** whether the caller may read at least one of them */
  mayRead(database: Database, caller: Caller, ids: readonly number[]): Promise<boolean>;
  /** whether at least one belongs to the caller or to a company of the caller */
  isOwn(database: Database, caller: Caller, ids: readonly number[]): Promise<boolean>;
  /** whether one of them shows this image or document to everyone */
  isPublic(database: Database, ids: readonly number[], storageKey: string): Promise<boolean>;
  /** the records that cannot be deleted because something uses them, with the name of one such use */
  findUses(database: Database, ids: readonly number[]): Promise<{ id: number; name: string }[]>;
  /** the records that are deleted with them, by kind */
  parts: Partial<Record<Entity, (database: Database, ids: readonly number[]) => Promise<number[]>>>;
}

/** An entry for every kind: a missing one does not compile. */
export type RecordKinds = Readonly<Record<Entity, RecordKind>>;
