import type { Database } from '../../platform/postgres/database.ts';
import { insertAudit } from './store.ts';

/** What was done to which record. */
export interface AuditEvent {
  action: string;
  entity: string;
  entityId: number | string;
  /** what else tells about it; never a secret */
  details?: Record<string, unknown>;
  /** who did it, where the request does not say it by its cookie */
  userId?: number | null;
}

/** Who does it, and from where. */
interface Actor {
  caller?: { id: number } | undefined;
  ip: string;
}

/** Writes down what is done, in the transaction that does it. */
export async function audit(
  database: Database,
  { caller, ip }: Actor,
  { action, entity, entityId, details = {}, userId = caller?.id ?? null }: AuditEvent,
): Promise<void> {
  await insertAudit(database, {
    at: new Date(),
    userId,
    action,
    entity,
    entityId: String(entityId),
    address: ip,
    details,
  });
}

/** Who the program itself is, for what it does without a request. */
export const PROGRAM = { caller: undefined, ip: '' };
