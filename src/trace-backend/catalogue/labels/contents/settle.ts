import type { Database } from '../../../../platform/database/database.ts';
import { setReferences, type Writer } from '../../images/references-store.ts';
import type { Label } from '../../products/labels/store.ts';
import type { LabelField } from '../../products/record/label-schemas.ts';
import type { Product } from '../../products/record/store.ts';
import { copyOf, filesOf, publicFilesOf } from './content.ts';
import { findOwn, type OwnContent, setCompared, setOwn } from './store.ts';

/** The fields of a label. */
export function fieldsOf({ content }: Pick<Label, 'content'>): LabelField[] {
  return (content.fields as LabelField[] | undefined) ?? [];
}

/**
 * Stores a label's own content, by default what it has or else a copy of its product, with its references to images
 * and documents and which of them are public. To be called after every change of a label, in its transaction.
 *
 * @throws Problem invalid, with the fields of unknown images and documents
 */
export async function settle(
  database: Database,
  writer: Writer,
  product: Product,
  label: Label,
  own?: OwnContent,
): Promise<void> {
  const known = own ?? (await findOwn(database, label.id));
  const content = known ?? (await copyOf(database, product));
  if (!known) await setCompared(database, label.id, product.version);
  await setOwn(database, label.id, content, publicFilesOf(fieldsOf(label), content));
  const record = { entity: 'label', entityId: label.id } as const;
  await setReferences(database, writer, record, filesOf(content));
}
