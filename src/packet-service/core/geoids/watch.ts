import type { Bounds } from '../../../geometry/covers.ts';
import type { Database } from '../../../platform/database/database.ts';

/** Is called in the transaction that registers or deletes fields, which holds the lock of registration. */
export interface FieldWatch {
  registered(database: Database, fields: readonly { geoid: string; bounds: Bounds }[]): Promise<void>;
  deleted(database: Database, geoid: string): Promise<void>;
}
