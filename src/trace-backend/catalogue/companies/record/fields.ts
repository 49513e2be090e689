/** Kinds of fields of a company. The kind decides how a field is sent, stored and shown. */
export type Kind =
  | 'name'
  | 'text'
  | 'url'
  | 'email'
  | 'flag'
  | 'address'
  | 'links'
  | 'image'
  | 'documents'
  | 'certifications'
  | 'valueChains'
  | 'currency';

export interface Field {
  kind: Kind;
  /** in the table of companies; absent for addresses, which have several, and value chains, which have their own table */
  column?: string;
  /** maximum number of characters */
  max?: number;
  /** in the definition */
  example?: string;
  /** meaning of the value, for the definition */
  description?: string;
  /** whether the brief profile has it, too; that profile has no files, value chains or currency */
  brief?: true;
  /** whether labels copy it from the owner of the product; 'shown': their pages have a heading for it */
  label?: 'copied' | 'shown';
}

/** A field that is a text. */
const text = <const FieldKind extends Kind, const Display>(
  kind: FieldKind,
  column: string,
  max: number,
  example: string,
  display: Display,
) => ({ kind, column, max, example, ...display });

/** A field that is true or false. */
const flag = <const Display>(column: string, description: string, display: Display) => ({
  kind: 'flag' as const,
  column,
  description,
  ...display,
});

/** For fields of the brief profile that labels copy, and show with a heading. */
const COPIED = { brief: true, label: 'copied' } as const;
const SHOWN = { brief: true, label: 'shown' } as const;

/**
 * The fields of a company, in the order of answers. Columns, schemas, views, comparisons, labels and the export of
 * personal data derive from it; a new column also needs a migration.
 */
export const FIELDS = {
  name: text('name', 'name', 255, 'Kopanyi', COPIED),
  abbreviation: text('text', 'abbreviation', 255, 'KOP', COPIED),
  headquarters: { kind: 'address', ...COPIED },
  about: text('text', 'about', 2000, 'Washing stations around the lake', SHOWN),
  manager: text('text', 'manager', 255, 'Ana Uwase', SHOWN),
  webPage: text('url', 'web_page', 255, 'https://kopanyi.example', SHOWN),
  email: text('email', 'email', 255, 'info@kopanyi.example', SHOWN),
  phone: text('text', 'phone', 255, '+250700000000', SHOWN),
  displayPrefferedWayOfPayment: flag(
    'display_preferred_way_of_payment',
    'whether delivery forms ask for the preferred payment method',
    { brief: true },
  ),
  purchaseProofDocumentMultipleFarmers: flag(
    'purchase_proof_multiple_farmers',
    'whether a proof of purchase can name several farmers',
    { brief: true },
  ),
  mediaLinks: { kind: 'links', column: 'media_links', ...COPIED },
  interview: text('text', 'interview', 2000, 'https://video.example/2', { label: 'copied' }),
  logo: { kind: 'image', column: 'logo', label: 'shown' },
  documents: { kind: 'documents', column: 'documents' },
  certifications: { kind: 'certifications', column: 'certifications' },
  valueChains: { kind: 'valueChains' },
  currency: { kind: 'currency', column: 'currency' },
  allowBeycoIntegration: flag('allow_beyco_integration', 'whether offers can be sent to Beyco', {}),
} as const satisfies Record<string, Field>;

/** The texts of an address, which also has a country. */
export const ADDRESS = {
  address: { column: 'address', max: 255, example: 'KN 3 Ave' },
  city: { column: 'city', max: 255, example: 'Kigali' },
  state: { column: 'state', max: 255, example: 'Kigali' },
  zip: { column: 'zip', max: 50, example: '00000' },
  cell: { column: 'cell', max: 255, example: 'Kibenga' },
  sector: { column: 'sector', max: 255, example: 'Mbazi' },
  village: { column: 'village', max: 255, example: 'Rwezamenyo' },
  otherAddress: { column: 'other_address', max: 255 },
  hondurasFarm: { column: 'honduras_farm', max: 255 },
  hondurasVillage: { column: 'honduras_village', max: 255 },
  hondurasMunicipality: { column: 'honduras_municipality', max: 255 },
  hondurasDepartment: { column: 'honduras_department', max: 255 },
} as const satisfies Record<string, Pick<Field, 'column' | 'max' | 'example'>>;

type Fields = typeof FIELDS;
export type FieldName = keyof Fields;
export type AddressField = keyof typeof ADDRESS;
export const ADDRESS_FIELDS = Object.keys(ADDRESS) as AddressField[];

/** The names of the fields with these properties. */
export type NamesOf<Wanted> = {
  [Name in FieldName]: Fields[Name] extends Wanted ? Name : never;
}[FieldName];

/** The fields of these kinds, in their order. */
export function fieldsOf<const Kinds extends Kind>(...kinds: Kinds[]): NamesOf<{ kind: Kinds }>[] {
  return namesWhere(({ kind }) => kinds.some(name => name === kind)) as NamesOf<{ kind: Kinds }>[];
}

/** The fields that the pages of labels show with a heading, in their order. */
export function fieldsLabelsShow(): NamesOf<{ label: 'shown' }>[] {
  return namesWhere(({ label }) => label === 'shown') as NamesOf<{ label: 'shown' }>[];
}

/** The fields that meet a condition, in their order. */
function namesWhere(holds: (field: Field) => boolean): FieldName[] {
  return (Object.keys(FIELDS) as FieldName[]).filter(name => holds(FIELDS[name]));
}

/** The fields of the brief profile, and those of only the whole one. */
export const BRIEF = namesWhere(({ brief }) => brief === true) as NamesOf<{ brief: true }>[];
export const WHOLE = namesWhere(({ brief }) => !brief) as Exclude<FieldName, NamesOf<{ brief: true }>>[];
/** The fields that labels copy. */
export const COPIED_BY_LABELS = namesWhere(({ label }) => label !== undefined) as NamesOf<{
  label: string;
}>[];

/** Maps fields by kind: `makers` has a function for each kind. */
export function byKind<
  const Names extends FieldName,
  const Makers extends Record<Fields[Names]['kind'], (field: Field) => unknown>,
>(names: readonly Names[], makers: Makers) {
  const each = names.map(name => [name, makers[FIELDS[name].kind as keyof Makers](FIELDS[name])]);
  return Object.fromEntries(each) as { [Name in Names]: ReturnType<Makers[Fields[Name]['kind']]> };
}

/** The columns of a profile in the table of companies, by the names of their fields. */
export const COLUMNS = {
  ...(Object.fromEntries(
    Object.entries(FIELDS).flatMap(([name, field]) => ('column' in field ? [[name, field.column]] : [])),
  ) as Record<NamesOf<{ column: string }>, string>),
  ...(Object.fromEntries(Object.entries(ADDRESS).map(([name, { column }]) => [name, column])) as Record<
    AddressField,
    string
  >),
  countryId: 'country_id',
};
