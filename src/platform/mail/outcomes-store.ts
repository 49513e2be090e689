import sql from 'sql-template-tag';
import type { Database } from '../database/database.ts';

/** How sending mails goes: the last one that was sent, and the last one that was not. */
export interface MailOutcomes {
  sentAt?: Date | undefined;
  failedAt?: Date | undefined;
  /** why, without addresses */
  error?: string | undefined;
}

/** Records how sending a mail ended; at most once in a second, so that many mails do not wait for one row. */
export async function noteMailOutcome(
  database: Database,
  outcome: 'sent' | 'failed',
  at: Date,
  error: string | null = null,
): Promise<void> {
  await database.query(sql`
    INSERT INTO mail_outcomes AS known (outcome, at, error) VALUES (${outcome}, ${at}, ${error})
    ON CONFLICT (outcome) DO UPDATE SET at = excluded.at, error = excluded.error
      WHERE known.at < excluded.at - interval '1 second'`);
}

export async function findMailOutcomes(database: Database): Promise<MailOutcomes> {
  const { rows } = await database.query<{ outcome: 'sent' | 'failed'; at: Date; error: string | null }>(
    sql`SELECT outcome, at, error FROM mail_outcomes LIMIT 2`,
  );
  const [sent, failed] = (['sent', 'failed'] as const).map(outcome =>
    rows.find(row => row.outcome === outcome),
  );
  return { sentAt: sent?.at, failedAt: failed?.at, error: failed?.error ?? undefined };
}
