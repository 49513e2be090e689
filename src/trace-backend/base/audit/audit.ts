import type { Database } from '../../../platform/database/database.ts';
import type { AuditAction, AuditEntity } from './actions.ts';
import { insertAudit } from './store.ts';

/** An audited action on a record. */
export interface AuditEvent {
  action: AuditAction;
  entity: AuditEntity;
  entityId: number | string;
  /** further details; never a secret */
  details?: Record<string, unknown>;
  /** the user, if not the caller of the request */
  userId?: number | null;
}

/** The caller and their address. */
interface Actor {
  caller?: { id: number } | undefined;
  ip: string;
}

/** Writes an audit entry in the transaction of the action. */
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

/** The actor for actions of the program itself. */
export const PROGRAM = { caller: undefined, ip: '' };
