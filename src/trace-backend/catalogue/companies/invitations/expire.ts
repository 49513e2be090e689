import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { transaction } from '../../../../platform/database/database.ts';
import { hourly } from '../../../../platform/jobs/hourly.ts';
import { audit, PROGRAM } from '../../../base/audit/audit.ts';
import { lockCompany, touchCompany } from '../record/store.ts';
import { deleteExpired, findExpiredCompanies } from './addresses-store.ts';

/** Days after which unanswered invitations of addresses are removed: their recipients may have no account. */
export const ADDRESS_DAYS = 30;
/** Maximum companies per query, and per run; the rest waits for the next run. */
const BATCH = 100;
const MAX_PER_RUN = 10_000;

/** Removes old invitations of addresses every hour; returns a function that stops it. */
export function expireInvitationsHourly(pool: pg.Pool, logger: FastifyBaseLogger): () => void {
  return hourly('old invitations of companies could not be removed', logger, () =>
    expireInvitations(pool, new Date()),
  );
}

/** Removes the invitations of addresses that have not been answered for 30 days. */
export async function expireInvitations(pool: pg.Pool, now: Date): Promise<void> {
  const before = new Date(now.getTime() - ADDRESS_DAYS * 24 * 3600_000);
  for (let count = 0; count < MAX_PER_RUN; count += BATCH) {
    const companyIds = await findExpiredCompanies(pool, before, BATCH);
    for (const companyId of companyIds) await expireOf(pool, companyId, before);
    if (companyIds.length < BATCH) break;
  }
}

async function expireOf(pool: pg.Pool, companyId: number, before: Date): Promise<void> {
  await transaction(pool, async database => {
    const company = await lockCompany(database, companyId);
    const expired = await deleteExpired(database, companyId, before);
    if (!company || expired.length === 0) return;
    await touchCompany(database, companyId, company.status);
    for (const invitation of expired) {
      const event = { action: 'EXPIRE_INVITATION', entity: 'company', entityId: companyId } as const;
      await audit(database, PROGRAM, { ...event, details: { invitation } });
    }
  });
}
