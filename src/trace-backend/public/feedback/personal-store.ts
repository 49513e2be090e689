import type pg from 'pg';
import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** The feedback with an email address. */
export function feedbackFrom(email: string | undefined): pg.QueryConfig {
  return sql`
    SELECT id, label_id, type, email, feedback, gdpr_consent, privacy_policy_consent, terms_of_use_consent, answers, at
    FROM label_feedback WHERE lower(email) = lower(${email}) ORDER BY id`;
}

/** Removes an email address, and the answers about the person, from feedback. */
export async function eraseFeedbackFrom(database: Database, email: string): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE label_feedback SET email = NULL, answers = '{}' WHERE lower(email) = lower(${email})`,
  );
}
