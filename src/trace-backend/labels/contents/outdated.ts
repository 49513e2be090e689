import type { Database } from '../../../platform/postgres/database.ts';
import { findLatestVersions } from '../../products/history/changes-store.ts';
import { LABEL_PARTS } from './schemas.ts';
import { findPublishedCopies } from './store.ts';

/** Changes of a product that are looked at, at most: those of the last years of nearly all products. */
const LOOKED_AT = 1000;

/**
 * The published labels of a product that were last changed before the product itself was, in what labels copy of it:
 * consumers may see something that is not so any more.
 *
 * @returns their ids
 */
export async function findOutdated(database: Database, productId: number): Promise<Set<number>> {
  const copies = await findPublishedCopies(database, productId);
  if (copies.length === 0) return new Set();
  const latest = await findLatestVersions(database, productId, LOOKED_AT);
  const versionOf = (path: string) => latest.get(path) ?? 0;
  const product = Math.max(...['name', ...LABEL_PARTS].map(versionOf));
  return new Set(copies.filter(id => versionOf(`labels.${id}`) < product));
}
