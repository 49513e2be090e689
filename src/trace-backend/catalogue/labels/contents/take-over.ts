import type pg from 'pg';
import { Problem } from '../../../../platform/http/problems.ts';
import { fault } from '../../../../platform/http/reasons/catalogue.ts';
import type { Requester } from '../../../base/access/requester.ts';
import { audit } from '../../../base/audit/audit.ts';
import { checkVersion, versionTag } from '../../../base/contract/versions.ts';
import type { RecordKinds } from '../../../base/records/kinds.ts';
import { changeDependent } from '../../products/dependents.ts';
import type { Label } from '../../products/labels/store.ts';
import { touchLabels } from '../../products/labels/store.ts';
import type { Product } from '../../products/record/store.ts';
import { copyOf } from './content.ts';
import { canDiffer, withProductValues } from './differences.ts';
import { existingLabel, unknownLabel } from './read.ts';
import { settle } from './settle.ts';
import { findOwn, type OwnContent, setCompared } from './store.ts';

/** The versions of a label and its product that were compared. */
function comparison({ label, product }: { label: Label; product: Product }): string {
  return `${label.version}.${product.version}`;
}

/** The ETag of the differences between a label and its product. */
export function comparisonTag(compared: { label: Label; product: Product }): string {
  return versionTag(comparison(compared));
}

/**
 * Copies the product's values at these paths into a label, which then counts as compared with the product. Without paths
 * the label's content stays unchanged.
 *
 * @throws Problem not_found, forbidden, precondition_failed; invalid for a path that is not in their content
 */
export async function takeOver(
  { pool, records }: { pool: pg.Pool; records: RecordKinds },
  requester: Requester,
  id: number,
  names: readonly string[],
): Promise<void> {
  const { productId } = await existingLabel(pool, id);
  const target = {
    pool,
    requester,
    productId,
    action: 'UPDATE_LABEL_CONTENT',
    unknown: unknownLabel,
  } as const;
  await changeDependent(target, async (database, product) => {
    const label = await existingLabel(database, id);
    checkVersion(requester.ifMatch, comparison({ label, product }));
    const current = await copyOf(database, product);
    const own = (await findOwn(database, id)) ?? current;
    checkNames(names, own, current);
    const after = withProductValues(own, current, names);
    await settle(database, { caller: requester.caller, records }, product, label, after);
    await setCompared(database, id, product.version);
    const details = { labelId: id, uuid: label.uuid };
    if (names.length === 0) {
      const event = {
        action: 'KEEP_LABEL_CONTENT',
        entity: 'product',
        entityId: productId,
        details,
      } as const;
      await audit(database, requester, event);
    }
    return {
      result: undefined,
      before: { labels: { [id]: { content: own } } },
      after: { labels: { [id]: { content: after } } },
      details,
      next: () => touchLabels(database, [id]),
    };
  });
}

function checkNames(names: readonly string[], ...contents: OwnContent[]): void {
  const faults = names.flatMap((name, index) =>
    canDiffer(name, ...contents) ? [] : [fault('label.no_content_field', { field: `names.${index}` })],
  );
  if (faults.length > 0) throw new Problem(faults);
}
