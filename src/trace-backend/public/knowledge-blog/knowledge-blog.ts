import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller } from '../../base/access/authentication.ts';
import type { Requester } from '../../base/access/requester.ts';
import type { AuditAction } from '../../base/audit/actions.ts';
import { dayOf } from '../../base/contract/dates.ts';
import { current, notFoundAs, sentFields } from '../../base/records/changes.ts';
import type { RecordKinds } from '../../base/records/kinds.ts';
import { setReferences } from '../../catalogue/images/references-store.ts';
import { findImages } from '../../catalogue/images/store.ts';
import { readableProduct } from '../../catalogue/products/access.ts';
import { changeDependent } from '../../catalogue/products/dependents.ts';
import { hasPublishedLabel } from '../../catalogue/products/labels/store.ts';
import { findProduct } from '../../catalogue/products/record/store.ts';
import { describedDocument } from '../../catalogue/products/view.ts';
import type { EntryBody } from './schemas.ts';
import {
  countEntries,
  type Entry,
  findBlogProducts,
  findEntry,
  insertEntry,
  touchEntry,
  updateEntry,
} from './store.ts';

/** Maximum entries per product. */
const MAX_ENTRIES = 1000;

export interface BlogContext {
  pool: pg.Pool;
  records: RecordKinds;
}

const EMPTY = {
  type: null,
  date: null,
  youtubeUrl: null,
  summary: null,
  content: null,
  documents: [],
  version: 1,
};

/**
 * Adds an entry to a product's knowledge blog.
 *
 * @throws Problem not_found, forbidden, invalid
 */
export async function addEntry(
  context: BlogContext,
  requester: Requester,
  productId: number,
  body: EntryBody & { title: string },
): Promise<void> {
  const change = { requester, productId, action: 'ADD_PRODUCT_KNOWLEDGE' as const };
  await changeEntries(context, change, async (database, at) => {
    if ((await countEntries(database, productId)) >= MAX_ENTRIES) {
      throw new Problem('blog_entry.too_many', { max: MAX_ENTRIES });
    }
    const after = entryAfter({ ...EMPTY, id: 0, productId, title: body.title }, body);
    return { after: { ...after, id: await insertEntry(database, after, at) } };
  });
}

/**
 * Changes an entry; omitted fields stay unchanged.
 *
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function changeEntry(
  context: BlogContext,
  requester: Requester,
  id: number,
  body: EntryBody,
): Promise<void> {
  const found = await findEntry(context.pool, id);
  if (!found) throw unknownEntry();
  const { productId } = found;
  const change = { requester, productId, action: 'UPDATE_PRODUCT_KNOWLEDGE' as const, unknown: unknownEntry };
  await changeEntries(context, change, async (database, at) => {
    const before = current(requester, await findEntry(database, id), unknownEntry);
    const after = entryAfter(before, body);
    await updateEntry(database, after, at);
    return { before, after };
  });
}

interface Change {
  requester: Requester;
  productId: number;
  action: AuditAction;
  unknown?: () => Problem;
}

/** Changes an entry in the history of its product. */
async function changeEntries(
  { pool, records }: BlogContext,
  change: Change,
  work: (database: Database, at: Date) => Promise<{ before?: Entry; after: Entry }>,
): Promise<void> {
  await changeDependent({ pool, ...change }, async database => {
    const { before, after } = await work(database, new Date());
    const { id, title } = after;
    const references = after.documents.map((storageKey, index) => ({
      field: `documents.${index}.storageKey`,
      storageKey,
    }));
    const writer = { caller: change.requester.caller, records };
    await setReferences(database, writer, { entity: 'knowledge_blog', entityId: id }, references);
    const state = (entry: Entry | undefined) => ({
      knowledgeBlogs: { [id]: entry && { ...entry, version: undefined } },
    });
    return {
      result: undefined,
      before: state(before),
      after: state(after),
      details: { entryId: id, title },
      ...(before && { next: () => touchEntry(database, id) }),
    };
  });
}

/** An entry after a change. */
function entryAfter(before: Entry, body: EntryBody): Entry {
  const { title, type, date, youtubeUrl, summary, content, documents } = body;
  const keys = documents?.flatMap(({ storageKey }) => storageKey?.toLowerCase() ?? []);
  const sent = sentFields({
    title: title ?? undefined,
    type,
    youtubeUrl,
    summary,
    content,
    date: date && dayOf('date', date),
    documents: documents === null ? [] : keys && [...new Set(keys)],
  });
  return { ...before, ...sent } as Entry;
}

/**
 * An entry for a reader of its product.
 *
 * @throws Problem not_found, also for callers who may not see it
 */
export async function readableEntry(database: Database, caller: Caller, id: number): Promise<Entry> {
  const entry = await findEntry(database, id);
  if (!entry) throw unknownEntry();
  await readableProduct(database, caller, entry.productId).catch(notFoundAs(unknownEntry));
  return entry;
}

/**
 * An entry that everyone may read.
 *
 * @throws Problem not_found, the same for hidden entries and unknown ones
 */
export async function publicEntry(database: Database, id: number): Promise<Entry> {
  const entry = await findEntry(database, id);
  if (!entry || !(await isPublicBlog(database, entry.productId))) throw unknownEntry();
  return entry;
}

async function isPublicBlog(database: Database, productId: number): Promise<boolean> {
  const [product, isLabelled] = await Promise.all([
    findProduct(database, productId),
    hasPublishedLabel(database, productId),
  ]);
  return product !== undefined && product.content.knowledgeBlog !== false && isLabelled;
}

/** Whether everyone may read one of these entries. */
export async function isPublicEntry(database: Database, ids: readonly number[]): Promise<boolean> {
  for (const productId of await findBlogProducts(database, ids)) {
    if (await isPublicBlog(database, productId)) return true;
  }
  return false;
}

/** An entry as in answers. */
export async function asEntry(
  database: Database,
  { productId: _product, version: _version, documents, ...entry }: Entry,
): Promise<object> {
  const images = await findImages(database, documents);
  return {
    ...present(entry),
    documents: documents.map(storageKey => describedDocument({ storageKey }, images)),
  };
}

/** The fields that are not null. */
export function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function unknownEntry(): Problem {
  return new Problem('blog_entry.unknown');
}
