import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller } from '../../base/access/authentication.ts';
import type { Requester } from '../../base/access/requester.ts';
import { type AuditEvent, audit, PROGRAM } from '../../base/audit/audit.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { notFoundAs } from '../../base/records/changes.ts';
import { findMemberships } from '../../catalogue/companies/members/members-store.ts';
import { existingLabel, unknownLabel } from '../../catalogue/labels/contents/read.ts';
import { changeableProduct, mayChange } from '../../catalogue/products/access.ts';
import {
  countUnseenFeedback,
  findLabel,
  findLabelByUuid,
  findPublishedLabel,
  listUnseenFeedback,
  noteFeedbackSeen,
  type UnseenFeedback,
} from '../../catalogue/products/labels/store.ts';
import { findProduct } from '../../catalogue/products/record/store.ts';
import { checkEmail } from '../../identity/users/email.ts';
import type { FeedbackBody, FeedbackType, SORTABLE } from './schemas.ts';
import {
  countFeedback,
  deleteFeedback,
  type Feedback,
  findFeedback,
  insertFeedback,
  listFeedback,
} from './store.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Maximum feedback per label, in a day and in total. */
const MAX_PER_DAY = 500;
const MAX_PER_LABEL = 10_000;
/** Maximum number of listed labels with unseen feedback. */
const MAX_UNSEEN_LABELS = 20;

/**
 * Stores the feedback of a consumer about the product of a published label. The audit entry has no address, because
 * consumers are not users.
 *
 * @throws Problem not_found, invalid, too_many_requests
 */
export async function addFeedback(pool: pg.Pool, uuid: string, body: FeedbackBody): Promise<void> {
  const { type, feedback, gdprConsent, privacyPolicyConsent, termsOfUseConsent } = body;
  const email = body.email ? checkEmail(body.email, 'email').email : null;
  if (email !== null && gdprConsent !== true) {
    throw new Problem('feedback.consent_required', { field: 'gdprConsent' });
  }
  const questionnaireAnswers = body.questionnaireAnswers ?? {};
  if (!feedback?.trim() && !type && Object.keys(questionnaireAnswers).length === 0) {
    throw new Problem('validation.required', { field: 'feedback' });
  }
  await transaction(pool, async database => {
    const label = await findPublishedLabel(database, uuid);
    if (!label) throw unknownLabel();
    const now = new Date();
    const { all, recent } = await countFeedback(database, label.id, new Date(now.getTime() - DAY_MS));
    if (all >= MAX_PER_LABEL) throw new Problem('feedback.too_much');
    if (recent >= MAX_PER_DAY) throw new Problem('feedback.too_much_today', {}, { retryAfter: 3600 });
    const stored = {
      labelId: label.id,
      type: type ?? null,
      email,
      feedback: feedback ?? null,
      gdprConsent: gdprConsent ?? null,
      privacyPolicyConsent: privacyPolicyConsent ?? null,
      termsOfUseConsent: termsOfUseConsent ?? null,
      questionnaireAnswers,
      at: now,
    };
    const feedbackId = await insertFeedback(database, stored);
    await countUnseenFeedback(database, label.id);
    const details = { labelId: label.id, feedbackId };
    const event: AuditEvent = {
      action: 'ADD_LABEL_FEEDBACK',
      entity: 'product',
      entityId: label.productId,
      details,
    };
    await audit(database, PROGRAM, event);
  });
}

/**
 * A page of the feedback about a label as its reader may see it: everything for users who may change the product; for
 * everyone else type and text, if the label is published.
 *
 * @throws Problem not_found
 */
export async function readFeedback(
  { pool, lists }: { pool: pg.Pool; lists: Lists },
  caller: Caller | undefined,
  { uuid, type }: { uuid: string; type: FeedbackType | undefined },
  page: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: object[]; count: number }> {
  const label = await findLabelByUuid(pool, uuid);
  const product = label && (await findProduct(pool, label.productId));
  if (!label || !product) throw unknownLabel();
  const mayChangeProduct = caller !== undefined && (await mayChange(pool, caller, product));
  if (!mayChangeProduct && label.status !== 'PUBLISHED') throw unknownLabel();
  // An order by address or answers would disclose something about them.
  const order = mayChangeProduct ? page : { ...page, sortBy: 'id' as const };
  const { items, count } = await listFeedback(pool, lists, { labelId: label.id, type }, order);
  return {
    items: items.map(item => (mayChangeProduct ? asWhole(item, product.name) : asPublic(item))),
    count,
  };
}

function asWhole(feedback: Feedback, productName: string): object {
  const set = Object.entries(feedback).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(set), productName };
}

function asPublic({ id, labelId, type, feedback }: Feedback): object {
  return { id, labelId, ...(type && { type }), ...(feedback && { feedback }) };
}

/** The labels with unseen feedback, of products of the caller and of their companies. */
export async function unseenFeedback(
  pool: pg.Pool,
  { id }: Caller,
): Promise<(Omit<UnseenFeedback, 'title'> & { title?: string })[]> {
  const memberships = await findMemberships(pool, id);
  const reader = { userId: id, companyIds: memberships.map(({ companyId }) => companyId) };
  const found = await listUnseenFeedback(pool, reader, MAX_UNSEEN_LABELS);
  return found.map(({ title, ...label }) => ({ ...label, ...(title !== null && { title }) }));
}

/**
 * Records that all feedback about a label has been seen by somebody who may change its product. It is then no longer
 * announced to any of them, because colleagues share the work.
 *
 * @throws Problem not_found, forbidden
 */
export async function markFeedbackSeen(pool: pg.Pool, caller: Caller, labelId: number): Promise<void> {
  await transaction(pool, async database => {
    const label = await existingLabel(database, labelId);
    await changeableProduct(database, caller, label.productId).catch(notFoundAs(unknownLabel));
    await noteFeedbackSeen(database, labelId);
  });
}

/**
 * Deletes feedback.
 *
 * @throws Problem not_found, forbidden
 */
export async function removeFeedback(pool: pg.Pool, requester: Requester, id: number): Promise<void> {
  const unknown = () => new Problem('feedback.unknown');
  await transaction(pool, async database => {
    const feedback = await findFeedback(database, id);
    const label = feedback && (await findLabel(database, feedback.labelId));
    if (!label) throw unknown();
    await changeableProduct(database, requester.caller, label.productId).catch(notFoundAs(unknown));
    if (!(await deleteFeedback(database, id))) throw unknown();
    const details = { labelId: label.id, feedbackId: id };
    const event: AuditEvent = {
      action: 'DELETE_LABEL_FEEDBACK',
      entity: 'product',
      entityId: label.productId,
      details,
    };
    await audit(database, requester, event);
  });
}
