/** The codes that are used in a value chain: the field, and the name of their list. */
export const USED = {
  facilityTypes: 'facility-types',
  measureUnitTypes: 'measure-unit-types',
  processingEvidenceTypes: 'processing-evidence-types',
  processingEvidenceFields: 'processing-evidence-fields',
  semiProducts: 'semi-products',
} as const;
export type UsedField = keyof typeof USED;
export const USED_FIELDS = Object.keys(USED) as UsedField[];

/** The entries of the form of a value chain. */
export interface ValueChainForm {
  name: string;
  description: string;
  /** id; "" for none */
  productType: string;
  /** ids */
  used: Record<UsedField, number[]>;
}

interface Shown extends Partial<Record<UsedField, { id: number }[]>> {
  name?: string;
  description?: string;
  productType?: { id: number };
}

/** The form of a value chain; without one, that of a new one. */
export function formOf(found: object = {}): ValueChainForm {
  const { name = '', description = '', productType, ...lists } = found as Shown;
  return {
    name,
    description,
    productType: productType ? String(productType.id) : '',
    used: Object.fromEntries(
      USED_FIELDS.map(field => [field, (lists[field] ?? []).map(({ id }) => id)]),
    ) as Record<UsedField, number[]>,
  };
}

/** The body that a form makes; "" clears a field. */
export function bodyOf({ name, description, productType, used }: ValueChainForm): object {
  return {
    name,
    description,
    productType: productType === '' ? '' : { id: Number(productType) },
    ...Object.fromEntries(USED_FIELDS.map(field => [field, used[field].map(id => ({ id }))])),
  };
}
