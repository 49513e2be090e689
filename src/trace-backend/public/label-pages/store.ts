import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import { sharedRead } from '../../../platform/database/shared-read.ts';
import { isUuid } from '../../../platform/database/uuid.ts';
import { selectBatchCounts } from '../../catalogue/labels/batches/store.ts';
import { findPublishedVersions } from '../../catalogue/products/labels/store.ts';
import { selectProductVersions } from '../../catalogue/products/record/store.ts';

/** A published label, and a text that changes with everything that its page shows. Images and documents never change. */
interface ShownVersions {
  labelId: number;
  versions: string;
}

const SHOWN = sql`json_build_array((${selectProductVersions(sql`product_labels.product_id`)}),
  (SELECT row_to_json(counts) FROM (${selectBatchCounts(sql`product_labels.id`)}) AS counts))::text`;

const shownVersions = sharedRead(async (database, uuids: readonly string[]) => {
  const labels = await findPublishedVersions<string>(database, uuids, SHOWN);
  return labels.map(label => label && { labelId: label.id, versions: `${label.version} ${label.more}` });
});

/** The versions of what a published label shows; undefined for unpublished and unknown ones. */
export async function findShownVersions(
  database: Database,
  uuid: string,
): Promise<ShownVersions | undefined> {
  return isUuid(uuid) ? shownVersions.one(database, uuid.toLowerCase()) : undefined;
}
