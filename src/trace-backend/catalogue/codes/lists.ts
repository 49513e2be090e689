import type { TSchema } from 'typebox';
import { Type } from '../../../platform/type.ts';
import type { AuditEntity } from '../../base/audit/actions.ts';

/** A field of the codes of a list. */
interface Field {
  column: string;
  schema: TSchema;
}

/** A code list: one table of short records, which administrators write and every user reads. */
export interface CodeList {
  /** word for a code, in messages; with hyphens, the entity of the audit */
  noun: string;
  /** part of the names of its operations, such as FacilityType */
  name: string;
  table: string;
  path: string;
  /** the field that is unique */
  key?: 'code' | 'fieldName';
  /** the field that users see as the name of a code */
  title: 'label' | 'name';
  /** the fields with translations: all or none of the texts that users read */
  translated: readonly ('label' | 'name' | 'description')[];
  fields: Readonly<Record<string, Field>>;
  /** the field that refers to a measure unit type, and its column */
  unit?: { field: 'measurementUnitType' | 'underlyingMeasurementUnitType'; column: string };
  /** whether answers contain the times of creation and change */
  dated?: boolean;
}

const field = (column: string, schema: TSchema): Field => ({ column, schema });
const text = (column: string, example: string, maxLength = 255) =>
  field(column, Type.String({ maxLength, examples: [example] }));
const flag = (column: string, description?: string) =>
  field(column, Type.Boolean(description === undefined ? {} : { description }));
const key = (column: string, example: string) =>
  field(
    column,
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '\\S',
      description: 'unique in its list; required for new entries',
      examples: [example],
    }),
  );
const disabled = flag(
  'disabled',
  'hidden from choice lists; existing uses stay valid, and it can still be sent',
);

const facilityTypes: CodeList = {
  noun: 'facility type',
  name: 'FacilityType',
  table: 'facility_types',
  path: '/api/chain/facility-type',
  key: 'code',
  title: 'label',
  translated: [],
  fields: { code: key('code', 'WASHING_STATION'), label: text('label', 'Washing station'), disabled },
};

const measureUnitTypes: CodeList = {
  noun: 'measure unit type',
  name: 'MeasureUnitType',
  table: 'measure_unit_types',
  path: '/api/chain/measure-unit-type',
  key: 'code',
  title: 'label',
  translated: [],
  fields: {
    code: key('code', 'BAG_60'),
    label: text('label', 'Bag (60 kg)'),
    weight: field(
      'weight',
      Type.Number({
        minimum: 0,
        maximum: 1e12,
        description: 'weight of one unit, in the underlying unit, or in kilograms if there is none',
        examples: [60],
      }),
    ),
    disabled,
  },
  unit: { field: 'underlyingMeasurementUnitType', column: 'underlying_id' },
};

const processingEvidenceTypes: CodeList = {
  noun: 'processing evidence type',
  name: 'ProcessingEvidenceType',
  table: 'processing_evidence_types',
  path: '/api/chain/processing-evidence-type',
  key: 'code',
  title: 'label',
  translated: ['label'],
  fields: {
    code: key('code', 'DELIVERY_NOTE'),
    label: text('label', 'Delivery note'),
    type: field('type', Type.Enum(['DOCUMENT', 'FIELD', 'CALCULATED'], { description: 'kind of evidence' })),
    fairness: flag('fairness', 'whether it is evidence of fairness'),
    provenance: flag('provenance', 'whether it is evidence of provenance'),
    quality: flag('quality', 'whether it is evidence of quality'),
    mandatory: flag('mandatory'),
    requiredOnQuote: flag('required_on_quote'),
    requiredOneOfGroupIdForQuote: field(
      'quote_group',
      Type.String({
        maxLength: 255,
        description: 'group of types; a quote requires one of them',
        examples: ['origin'],
      }),
    ),
    disabled,
  },
};

const processingEvidenceFields: CodeList = {
  noun: 'processing evidence field',
  name: 'ProcessingEvidenceField',
  table: 'processing_evidence_fields',
  path: '/api/chain/processing-evidence-field',
  key: 'fieldName',
  title: 'label',
  translated: ['label'],
  fields: {
    fieldName: key('field_name', 'MOISTURE'),
    label: text('label', 'Moisture'),
    type: field(
      'type',
      Type.Enum(
        ['STRING', 'TEXT', 'NUMBER', 'INTEGER', 'DATE', 'OBJECT', 'PRICE', 'EXCHANGE_RATE', 'TIMESTAMP'],
        { description: 'type of the values' },
      ),
    ),
    mandatory: flag('mandatory'),
    requiredOnQuote: flag('required_on_quote'),
    disabled,
  },
};

const semiProducts: CodeList = {
  noun: 'semi-product',
  name: 'SemiProduct',
  table: 'semi_products',
  path: '/api/chain/semi-product',
  title: 'name',
  translated: ['name', 'description'],
  fields: {
    name: text('name', 'Cherry'),
    description: text('description', 'Fresh cherry', 2000),
    sku: flag('sku', 'whether it is a stock keeping unit'),
    skuendCustomer: flag('sku_end_customer', 'whether it is a stock keeping unit for end customers'),
    buyable: flag('buyable', 'whether it can be bought'),
    disabled,
  },
  unit: { field: 'measurementUnitType', column: 'unit_id' },
};

const productTypes: CodeList = {
  noun: 'product type',
  name: 'ProductType',
  table: 'product_types',
  path: '/api/product-type',
  key: 'code',
  title: 'name',
  translated: ['name', 'description'],
  fields: {
    code: key('code', 'COFFEE'),
    name: text('name', 'Coffee'),
    description: text('description', 'Green and roasted coffee', 2000),
    disabled,
  },
  dated: true,
};

/** The code lists of the product. */
export const CODE_LISTS = {
  facilityTypes,
  measureUnitTypes,
  processingEvidenceTypes,
  processingEvidenceFields,
  semiProducts,
  productTypes,
};

/** The name of the codes of a list in the audit. */
export function entityOf({ noun }: CodeList): AuditEntity {
  return noun.replaceAll(' ', '-') as AuditEntity;
}
