import type { Static } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { Id } from '../../../base/contract/schemas.ts';
import { nullable, nullableEach, oneOf, RecordKey, text } from '../../../base/contract/shapes.ts';
import { Country } from '../../../base/countries/schemas.ts';
import { MAX_VALUE_CHAINS } from '../../value-chains/references.ts';

/** Entries of each list of a company, at most. */
const MAX_ENTRIES = 100;
/** Links of a company, at most. */
const MAX_LINKS = 50;

const CountryId = Type.Union(
  [
    Type.Integer({ title: 'a whole number', description: '1 to 249' }),
    Type.String({ maxLength: 10, title: 'a whole number or an ISO 3166-1 alpha-2 code as a string' }),
  ],
  { description: 'from GET /api/common/countries, or an alpha-2 code', examples: ['184', 184, 'RW'] },
);

const CountryReference = Type.Object(
  {
    id: nullable(CountryId),
    code: nullable(Type.String({ maxLength: 10, description: 'instead of the id' })),
  },
  { description: 'by its id or its code' },
);

/** The texts of an address, and their greatest lengths. */
const ADDRESS = {
  address: 255,
  city: 255,
  state: 255,
  zip: 50,
  cell: 255,
  sector: 255,
  village: 255,
  otherAddress: 255,
  hondurasFarm: 255,
  hondurasVillage: 255,
  hondurasMunicipality: 255,
  hondurasDepartment: 255,
} as const;
export type AddressField = keyof typeof ADDRESS;
export const ADDRESS_FIELDS = Object.keys(ADDRESS) as AddressField[];

const addressTexts = Object.fromEntries(
  Object.entries(ADDRESS).map(([field, length]) => [field, text(length)]),
) as Record<AddressField, ReturnType<typeof text>>;

/** An address in a body. */
export const AddressBody = named(
  'Address',
  Type.Object({ ...addressTexts, country: nullable(CountryReference) }),
);

/** An uploaded image or document in a body; whatever else of it is sent is ignored. */
const file = (description: string) =>
  nullable(
    Type.Object(
      { storageKey: Type.String({ maxLength: 100, examples: ['4f8a2c1e-9b7d-4e55-8a3f-0c6d1b2e7f90'] }) },
      { description },
    ),
  );

export const DOCUMENT_TYPES = ['LINK', 'FILE'] as const;
export const DOCUMENT_CATEGORIES = ['VIDEO', 'PRODUCTION_RECORD', 'MEET_THE_FARMER'] as const;

const DocumentBody = named(
  'CompanyDocument',
  Type.Object({
    id: nullable(Id),
    type: oneOf(DOCUMENT_TYPES),
    category: oneOf(DOCUMENT_CATEGORIES),
    name: text(255),
    description: text(2000),
    quote: text(2000),
    link: text(2000),
    document: file('an uploaded image or document'),
  }),
);

const CertificationBody = named(
  'Certification',
  Type.Object({
    id: nullable(Id),
    type: text(255),
    description: text(2000),
    validity: text(50),
    certificate: file('an uploaded image or document'),
  }),
);

/** The fields of a body that make the profile of a company, besides its name. */
export const profileFields = {
  abbreviation: text(255),
  headquarters: nullable(AddressBody),
  about: text(2000),
  manager: text(255),
  webPage: text(255),
  email: nullable(Type.String({ maxLength: 255, description: 'e-mail address; may be empty' })),
  phone: text(255),
  interview: text(2000),
  mediaLinks: nullable(
    Type.Record(RecordKey, Type.String({ maxLength: 2000 }), {
      maxProperties: MAX_LINKS,
      description: `links by the name of the medium, ${MAX_LINKS} at most`,
      examples: [{ facebook: 'https://facebook.example/kopanyi' }],
    }),
  ),
  ...nullableEach({
    displayPrefferedWayOfPayment: Type.Boolean({
      description: 'whether forms of deliveries ask for the preferred way of payment',
    }),
    purchaseProofDocumentMultipleFarmers: Type.Boolean({
      description: 'whether one proof of purchase may name several farmers',
    }),
    allowBeycoIntegration: Type.Boolean({ description: 'whether offers may be sent to Beyco' }),
  }),
  logo: file('an uploaded image'),
  documents: nullable(
    Type.Array(DocumentBody, {
      maxItems: MAX_ENTRIES,
      description: `${MAX_ENTRIES} at most; replaces the list. Entries with an id of the company stay the same document`,
    }),
  ),
  certifications: nullable(
    Type.Array(CertificationBody, {
      maxItems: MAX_ENTRIES,
      description: `${MAX_ENTRIES} at most; replaces the list, as documents do`,
    }),
  ),
  valueChains: nullable(
    Type.Array(Type.Object({ id: Id }), {
      maxItems: MAX_VALUE_CHAINS,
      description: `${MAX_VALUE_CHAINS} at most, by their ids; replaces the list`,
    }),
  ),
  currency: nullable(
    Type.Object(
      { code: nullable(Type.String({ maxLength: 10, description: 'ISO 4217 code' })) },
      { description: 'a currency type, by its code' },
    ),
  ),
};

const ProfileBody = Type.Object(profileFields);
export type SentAddress = Static<typeof AddressBody>;
export type SentProfile = Static<typeof ProfileBody>;

const word = (...examples: string[]) => Type.Optional(Type.String({ examples }));

/** An uploaded image or document in answers. */
export const StoredFile = named(
  'StoredFile',
  Type.Object({
    id: Type.Integer(),
    storageKey: Type.String(),
    name: Type.String(),
    contentType: Type.String(),
    size: Type.Integer(),
  }),
);

/** An address in answers; unset fields are absent. */
export const Address = named(
  'Address',
  Type.Object({
    address: word('KN 3 Ave'),
    city: word('Kigali'),
    state: word('Kigali'),
    zip: word('00000'),
    cell: word('Kibenga'),
    sector: word('Mbazi'),
    village: word('Rwezamenyo'),
    otherAddress: word(),
    hondurasFarm: word(),
    hondurasVillage: word(),
    hondurasMunicipality: word(),
    hondurasDepartment: word(),
    country: Type.Optional(Country),
  }),
);

/** The profile of a company without what it refers to; unset fields are absent. */
export const BriefProfile = named(
  'BriefCompany',
  Type.Object({
    id: Type.Integer({ examples: [3] }),
    name: Type.String({ examples: ['Kopanyi'] }),
    abbreviation: word('KOP'),
    headquarters: Type.Optional(Address),
    about: word('Washing stations around the lake'),
    manager: word('Ana Uwase'),
    webPage: word('https://kopanyi.example'),
    email: word('info@kopanyi.example'),
    phone: word('+250700000000'),
    displayPrefferedWayOfPayment: Type.Optional(Type.Boolean()),
    purchaseProofDocumentMultipleFarmers: Type.Optional(Type.Boolean()),
    mediaLinks: Type.Record(Type.String(), Type.String(), { description: 'links by the name of the medium' }),
  }),
);

const CompanyDocument = named(
  'CompanyDocument',
  Type.Object({
    id: Type.Integer(),
    type: Type.Optional(Type.Enum([...DOCUMENT_TYPES])),
    category: Type.Optional(Type.Enum([...DOCUMENT_CATEGORIES])),
    name: word('Harvest'),
    description: word(),
    quote: word(),
    link: word('https://video.example/1'),
    document: Type.Optional(StoredFile),
  }),
);

const Certification = named(
  'Certification',
  Type.Object({
    id: Type.Integer(),
    type: word('ORGANIC'),
    description: word(),
    validity: word('2027-12-31'),
    certificate: Type.Optional(StoredFile),
  }),
);

/** A value chain that a company takes part in. */
export const BriefValueChain = named(
  'BriefValueChain',
  Type.Object({
    id: Type.Integer({ examples: [2] }),
    name: Type.String({ examples: ['Coffee'] }),
    description: word(),
    valueChainStatus: Type.Enum(['ENABLED', 'DISABLED']),
    productType: Type.Optional(
      Type.Object({ id: Type.Integer(), code: Type.String({ examples: ['COFFEE'] }), name: Type.String() }),
    ),
  }),
);

/** The whole profile of a company. */
export const WholeProfile = Type.Object({
  ...BriefProfile.properties,
  interview: word('https://video.example/2'),
  logo: Type.Optional(StoredFile),
  documents: Type.Array(CompanyDocument),
  certifications: Type.Array(Certification),
  valueChains: Type.Array(BriefValueChain),
  currency: Type.Optional(
    Type.Object({
      id: Type.Integer({ examples: [7] }),
      code: Type.String({ examples: ['RWF'] }),
      label: Type.String(),
      enabled: Type.Boolean(),
    }),
  ),
  allowBeycoIntegration: Type.Optional(Type.Boolean()),
});
