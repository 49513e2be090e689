import type { Database } from '../../../platform/database/database.ts';
import type { Caller } from '../access/authentication.ts';

/** Kinds of records that refer to images and documents. */
export type Entity = 'company' | 'product' | 'label' | 'label_batch' | 'knowledge_blog';

/** What other features need to know of records of a kind, each time of several by their ids. */
export interface RecordKind {
  /** whether the caller may read at least one of them */
  mayRead(database: Database, caller: Caller, ids: readonly number[]): Promise<boolean>;
  /** whether at least one belongs to a company that the caller acts for, or to the caller */
  isOwn(database: Database, caller: Caller, ids: readonly number[]): Promise<boolean>;
  /** whether one of them shows this image or document to everyone */
  isPublic(database: Database, ids: readonly number[], storageKey: string): Promise<boolean>;
  /** which of them are used by something that keeps them from being deleted, and the name of one such thing for each */
  findUses(database: Database, ids: readonly number[]): Promise<{ id: number; name: string }[]>;
  /** the records that are deleted with them, by kind */
  parts: Partial<Record<Entity, (database: Database, ids: readonly number[]) => Promise<number[]>>>;
}

/** Every kind of record: a kind without an entry does not compile. */
export type RecordKinds = Readonly<Record<Entity, RecordKind>>;
