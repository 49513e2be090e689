/** A field of the codes of a list, as the form shows it. */
export interface CodeField {
  name: string;
  type: 'text' | 'textarea' | 'number' | 'checkbox' | 'select';
  /** of a select */
  choices?: readonly string[];
}

/** A code list of the trace backend. */
export interface CodeList {
  /** in addresses and keys of messages */
  name: string;
  /** of one code; list is where all are */
  path: string;
  list: string;
  /** the field that is unique */
  key?: string;
  /** the field by which users know a code */
  title: 'label' | 'name';
  /** the fields that have translations */
  translated: readonly string[];
  fields: readonly CodeField[];
  /** the field that refers to a measure unit type */
  unit?: 'measurementUnitType' | 'underlyingMeasurementUnitType';
}

const text = (name: string): CodeField => ({ name, type: 'text' });
const flag = (name: string): CodeField => ({ name, type: 'checkbox' });
const select = (name: string, choices: readonly string[]): CodeField => ({ name, type: 'select', choices });
const description: CodeField = { name: 'description', type: 'textarea' };

const below = (name: string, path: string) => ({ name, path, list: `${path}/list` });

const LISTS: readonly CodeList[] = [
  {
    name: 'product-types',
    path: '/api/product-type',
    list: '/api/product-type',
    key: 'code',
    title: 'name',
    translated: ['name', 'description'],
    fields: [text('code'), text('name'), description],
  },
  {
    ...below('semi-products', '/api/chain/semi-product'),
    title: 'name',
    translated: ['name', 'description'],
    fields: [text('name'), description, flag('sku'), flag('skuendCustomer'), flag('buyable')],
    unit: 'measurementUnitType',
  },
  {
    ...below('facility-types', '/api/chain/facility-type'),
    key: 'code',
    title: 'label',
    translated: [],
    fields: [text('code'), text('label')],
  },
  {
    ...below('measure-unit-types', '/api/chain/measure-unit-type'),
    key: 'code',
    title: 'label',
    translated: [],
    fields: [text('code'), text('label'), { name: 'weight', type: 'number' }],
    unit: 'underlyingMeasurementUnitType',
  },
  {
    ...below('processing-evidence-types', '/api/chain/processing-evidence-type'),
    key: 'code',
    title: 'label',
    translated: ['label'],
    fields: [
      text('code'),
      text('label'),
      select('type', ['DOCUMENT', 'FIELD', 'CALCULATED']),
      ...['fairness', 'provenance', 'quality', 'mandatory', 'requiredOnQuote'].map(flag),
      text('requiredOneOfGroupIdForQuote'),
    ],
  },
  {
    ...below('processing-evidence-fields', '/api/chain/processing-evidence-field'),
    key: 'fieldName',
    title: 'label',
    translated: ['label'],
    fields: [
      text('fieldName'),
      text('label'),
      select('type', [
        'STRING',
        'TEXT',
        'NUMBER',
        'INTEGER',
        'DATE',
        'OBJECT',
        'PRICE',
        'EXCHANGE_RATE',
        'TIMESTAMP',
      ]),
      flag('mandatory'),
      flag('requiredOnQuote'),
    ],
  },
];

/** The code lists, in the order in which the console shows them. Codes of each can be disabled. */
export const CODE_LISTS: readonly CodeList[] = LISTS.map(list => ({
  ...list,
  fields: [...list.fields, flag('disabled')],
}));

/** The code list of a name; undefined if there is none. */
export function findList(name: string): CodeList | undefined {
  return CODE_LISTS.find(list => list.name === name);
}
