import { type Static, type TSchema, Type } from 'typebox';
import { DateTime, Id } from '../contract/schemas.ts';
import { nullable, nullableEach, oneOrMany, text } from '../contract/shapes.ts';
import { LabelBody, LabelView } from './labels/schemas.ts';

export const COMPANY_TYPES = [
  'BUYER',
  'IMPORTER',
  'EXPORTER',
  'OWNER',
  'PRODUCER',
  'ASSOCIATION',
  'PROCESSOR',
  'TRADER',
  'ROASTER',
] as const;
export type CompanyType = (typeof COMPANY_TYPES)[number];

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', examples: ['Washed Bourbon'] });

/** An image or document; all but the storage key is filled in by us. */
const Document = Type.Object(
  {
    id: nullable(Type.Integer()),
    storageKey: nullable(Type.String({ maxLength: 100, description: 'from POST /api/common/image' })),
    name: text(255),
    contentType: text(255),
    size: nullable(Type.Integer({ description: 'bytes' })),
  },
  { description: 'an image or document that was uploaded; storageKey alone suffices' },
);

const Geometry = Type.Object(
  {
    type: Type.Enum(['Point', 'Polygon']),
    coordinates: Type.Array(Type.Any(), { minItems: 1, maxItems: 2000 }),
  },
  {
    description: 'the plot itself: a GeoJSON Point or Polygon without holes; docs/guides/origin.md',
    examples: [{ type: 'Point', coordinates: [29.120512, -1.219534] }],
  },
);

const Location = Type.Object({
  address: nullable(
    Type.Unsafe<string | object>({ type: ['string', 'object'], maxLength: 1000, description: 'where it is' }),
  ),
  latitude: nullable(Type.Number({ minimum: -90, maximum: 90 })),
  longitude: nullable(Type.Number({ minimum: -180, maximum: 180 })),
  numberOfFarmers: nullable(Type.Integer({ minimum: 0 })),
  pinName: text(255),
  geoid: nullable(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'GeoID of the plot' })),
  geometry: nullable(Geometry),
  areaInHectares: nullable(Type.Number({ minimum: 0, description: 'of a plot that is given as a point' })),
  countryCode: nullable(Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' })),
});
export type Location = Static<typeof Location>;

const Origin = Type.Object({
  text: text(2000),
  locations: nullable(Type.Array(Location, { maxItems: 1000 })),
});

const Process = Type.Object({ production: text(2000) });
const Responsibility = Type.Object({ laborPolicies: text(2000) });
const Sustainability = Type.Object({
  production: text(1000),
  packaging: text(1000),
  co2Footprint: text(255),
});

const Settings = Type.Object({
  costBreakdown: nullable(Type.Boolean()),
  pricingTransparency: nullable(
    Type.Record(Type.String(), Type.Number(), { maxProperties: 500, examples: [{ farmer: 4.2 }] }),
  ),
  incomeIncreaseDocument: nullable(Document),
  incomeIncreaseDescription: text(2000),
  gdprText: text(2000),
  language: nullable(
    Type.String({ pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$', maxLength: 35, examples: ['EN'] }),
  ),
  privacyPolicyText: text(50_000),
  termsOfUseText: text(50_000),
});

/** The parts with fields of their own, which a change takes one by one: what is left out stays, null clears. */
const objects = {
  origin: Origin,
  process: Process,
  responsibility: Responsibility,
  sustainability: Sustainability,
  settings: Settings,
};

/** What a product consists of besides its name, its companies and its labels. A change replaces other parts whole. */
const parts = {
  photo: nullable(Document),
  description: text(2000),
  ...nullableEach(objects),
  knowledgeBlog: nullable(Type.Boolean()),
};
const Parts = Type.Object(parts);

export const PARTS = Object.keys(parts) as (keyof typeof parts)[];

/** The fields that we know in the parts that have some; others are kept as they come. */
export const KNOWN_FIELDS = new Map(
  Object.entries(objects).map(([part, { properties }]) => [part, Object.keys(properties)]),
);

/** Where a product carries images and documents: `photo`, `settings.incomeIncreaseDocument`. */
export type DocumentPath = PathsOf<Static<typeof Parts>>;
type PathsOf<Fields> = {
  [Name in keyof Fields & string]-?: PathIn<Name, NonNullable<Fields[Name]>>;
}[keyof Fields & string];
type PathIn<Name extends string, Field> = Field extends unknown[] | string | number | boolean
  ? never
  : string extends keyof Field
    ? never
    : 'storageKey' extends keyof Field
      ? Name
      : `${Name}.${PathsOf<Field>}`;

const AssociatedCompany = Type.Object({
  company: Type.Object({ id: Id }),
  type: Type.Enum([...COMPANY_TYPES], { description: 'what it has to do with the product' }),
});

const fields = {
  ...parts,
  company: nullable(
    Type.Object(
      { id: nullable(Id as TSchema as typeof Id) },
      { description: 'the owner; without it your only company' },
    ),
  ),
  associatedCompanies: oneOrMany(AssociatedCompany, 200),
  labels: oneOrMany(LabelBody, 50),
};

export const NewProduct = Type.Object({ name: Name, ...fields });
export const ProductUpdate = Type.Object({ id: Id, name: Type.Optional(Name), ...fields });
export type ProductBody = Omit<Static<typeof ProductUpdate>, 'id'>;

export const CompanyName = Type.Object({ id: Type.Integer(), name: Type.String({ examples: ['Kopanyi'] }) });

export const ProductView = Type.Object({
  id: Type.Integer({ examples: [12] }),
  name: Type.String(),
  ...parts,
  company: Type.Optional(CompanyName),
  associatedCompanies: Type.Array(Type.Object({ company: CompanyName, type: Type.Enum([...COMPANY_TYPES]) })),
  labels: Type.Array(LabelView),
  createdAt: DateTime,
  updatedAt: DateTime,
});

export const ProductItem = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  photo: Type.Optional(
    Type.Object({
      id: Type.Integer(),
      storageKey: Type.String(),
      name: Type.String(),
      contentType: Type.String(),
      size: Type.Integer(),
    }),
  ),
  company: Type.Optional(CompanyName),
  updatedAt: DateTime,
});

export const Change = Type.Object({
  id: Type.Integer(),
  at: DateTime,
  version: Type.Integer({ description: 'the version that the change made' }),
  user: Type.Object({ id: Type.Integer(), name: Type.String(), surname: Type.String() }),
  path: Type.String({
    description: 'of the field; empty for the product itself, which was created',
    examples: ['origin.text'],
  }),
  before: Type.Optional(Type.Any({ description: 'absent where there was nothing' })),
  after: Type.Optional(Type.Any({ description: 'absent where there is nothing' })),
});
