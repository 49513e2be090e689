import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import type { FeedbackType, SORTABLE } from './schemas.ts';

/** Feedback of a consumer about a label's product. */
export interface Feedback {
  id: number;
  labelId: number;
  type: FeedbackType | null;
  email: string | null;
  feedback: string | null;
  gdprConsent: boolean | null;
  privacyPolicyConsent: boolean | null;
  termsOfUseConsent: boolean | null;
  questionnaireAnswers: Record<string, string>;
  /** when it was written */
  at: Date;
}

const FEEDBACK = sql`id, label_id AS "labelId", type, email, feedback, gdpr_consent AS "gdprConsent",
  privacy_policy_consent AS "privacyPolicyConsent", terms_of_use_consent AS "termsOfUseConsent",
  answers AS "questionnaireAnswers", at`;

export async function insertFeedback(
  database: Database,
  { labelId, type, email, feedback, questionnaireAnswers, at, ...consents }: Omit<Feedback, 'id'>,
): Promise<number> {
  const { gdprConsent, privacyPolicyConsent, termsOfUseConsent } = consents;
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO label_feedback (label_id, type, email, feedback, gdpr_consent, privacy_policy_consent,
      terms_of_use_consent, answers, at)
    VALUES (${labelId}, ${type}, ${email}, ${feedback}, ${gdprConsent}, ${privacyPolicyConsent},
      ${termsOfUseConsent}, ${JSON.stringify(questionnaireAnswers)}, ${at})
    RETURNING id`);
  return (rows[0] as { id: number }).id;
}

/** The number of feedback entries about a label, in total and since a time. */
export async function countFeedback(
  database: Database,
  labelId: number,
  since: Date,
): Promise<{ all: number; recent: number }> {
  const { rows } = await database.query<{ all: number; recent: number }>(sql`
    SELECT count(*)::int AS all, (count(*) FILTER (WHERE at > ${since}))::int AS recent FROM label_feedback
    WHERE label_id = ${labelId}`);
  return rows[0] as { all: number; recent: number };
}

export async function findFeedback(database: Database, id: number): Promise<Feedback | undefined> {
  const { rows } = await database.query<Feedback>(
    sql`SELECT ${FEEDBACK} FROM label_feedback WHERE id = ${id}`,
  );
  return rows[0];
}

/** Deletes feedback; returns false if it does not exist. */
export async function deleteFeedback(database: Database, id: number): Promise<boolean> {
  const { rowCount } = await database.query(sql`DELETE FROM label_feedback WHERE id = ${id}`);
  return rowCount === 1;
}

const KEYS = {
  id: 'id',
  email: 'email',
  gender: "answers ->> 'gender'",
  age: "answers ->> 'age'",
  type: 'type',
};

/** A page of the feedback about a label, and its total number. */
export async function listFeedback(
  database: Database,
  lists: Lists,
  { labelId, type }: { labelId: number; type: FeedbackType | undefined },
  page: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: Feedback[]; count: number }> {
  const ofType = type === undefined ? sql`true` : sql`type = ${type}`;
  const where = sql`label_id = ${labelId} AND ${ofType}`;
  const source = {
    table: 'label_feedback',
    columns: FEEDBACK,
    key: KEYS[page.sortBy],
    gather: where,
    look: where,
  };
  return lists.list<Feedback>(database, `feedback of ${labelId} ${type ?? ''}`, source, page);
}
