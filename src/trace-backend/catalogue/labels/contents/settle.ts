import type { Database } from '../../../../platform/database/database.ts';
import { type RecordAccess, setReferences } from '../../images/references-store.ts';
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
 * Stores a label's own content, its references to images and documents, and which of them are public. Without new content
 * it keeps the present one, or copies the product. Call it after every change of a label, in the same transaction.
 *
 * @throws Problem invalid, with the fields of unknown images and documents
 */
export async function settle(
  database: Database,
  writer: RecordAccess,
  product: Product,
  label: Label,
  own?: OwnContent,
): Promise<void> {
  const present = own ?? (await findOwn(database, label.id));
  const content = present ?? (await copyOf(database, product));
  if (!present) await setCompared(database, label.id, product.version);
  await setOwn(database, label.id, content, publicFilesOf(fieldsOf(label), content));
  const record = { entity: 'label', entityId: label.id } as const;
  await setReferences(database, writer, record, filesOf(content));
}
