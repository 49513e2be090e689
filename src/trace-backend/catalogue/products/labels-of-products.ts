import type { Static } from 'typebox';
import type { Database } from '../../../platform/database/database.ts';
import type { LabelBody, LabelStatus, LabelView } from './record/label-schemas.ts';

/** A label of a product; public once it is published. */
export interface Label {
  id: number;
  uuid: string;
  productId: number;
  status: LabelStatus;
  /** counts the changes of the label, its own content and its documents */
  version: number;
  /** title, language, fields, and other sent fields */
  content: Record<string, unknown>;
}

/** What products do with their labels, which are a feature above them. */
export interface LabelsOfProducts {
  /** The labels of a product, oldest first. */
  find(database: Database, productId: number): Promise<Label[]>;
  /**
   * Stores the labels that were sent with a product, whose row lock the transaction holds; null removes all that may be
   * removed this way.
   *
   * @param before the labels that the product has
   * @returns the labels that it has now
   * @throws Problem invalid
   */
  save(
    database: Database,
    productId: number,
    sent: LabelBody | readonly LabelBody[] | null,
    before: readonly Label[],
  ): Promise<Label[]>;
  /** Ends what refers to files on behalf of a product, its labels included, before they are deleted with it. */
  release(database: Database, productId: number, labelIds: readonly number[]): Promise<void>;
}

/** The labels of a product as its history compares them. */
export function byId(labels: readonly Label[]): Record<string, object> {
  return Object.fromEntries(
    labels.map(({ id, uuid, status, content }) => [id, { uuid, status, ...content }]),
  );
}

/** A label as in answers to users who may see its product. */
export function asLabel({ id, uuid, status, productId, content }: Label): Static<typeof LabelView> {
  return { fields: [], ...content, id, productId, status, uuid };
}
