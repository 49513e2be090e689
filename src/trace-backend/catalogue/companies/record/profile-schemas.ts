import type { Static, TSchema } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { Id } from '../../../base/contract/schemas.ts';
import { nullable, oneOf, RecordKey, text } from '../../../base/contract/shapes.ts';
import { Country } from '../../../base/countries/schemas.ts';
import { MAX_VALUE_CHAINS } from '../../value-chains/references.ts';
import { ADDRESS, type AddressField, BRIEF, byKind, type Field, fieldsOf, WHOLE } from './fields.ts';

/** Maximum entries per list of a company. */
const MAX_ENTRIES = 100;
/** Maximum links of a company. */
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
  { description: 'identified by id or code' },
);

/** The texts of an address in a body. */
export const addressTexts = Object.fromEntries(
  Object.entries(ADDRESS).map(([field, { max }]) => [field, text(max)]),
) as Record<AddressField, ReturnType<typeof text>>;

/** An address in a body. */
const AddressBody = named('Address', Type.Object({ ...addressTexts, country: nullable(CountryReference) }));

/** An uploaded image or document in a body; only its storage key is read. */
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

const textOf = ({ max = 0 }: Field) => text(max);
const links = Type.Record(RecordKey, Type.String({ maxLength: 2000 }), {
  maxProperties: MAX_LINKS,
  description: `links by medium, at most ${MAX_LINKS}`,
  examples: [{ facebook: 'https://facebook.example/kopanyi' }],
});
const limitedList = <Item extends TSchema>(item: Item, max: number, description: string) =>
  nullable(Type.Array(item, { maxItems: max, description: `at most ${max}${description}` }));

/** The fields of a profile in a body, without its name. */
export const profileFields = byKind(
  [
    ...fieldsOf('text', 'address', 'url', 'email'),
    ...fieldsOf('links'),
    ...fieldsOf('flag'),
    ...fieldsOf('image', 'documents', 'certifications', 'valueChains', 'currency'),
  ],
  {
    text: textOf,
    url: textOf,
    email: ({ max = 0 }) =>
      nullable(Type.String({ maxLength: max, description: 'email address; may be empty' })),
    address: () => nullable(AddressBody),
    links: () => nullable(links),
    flag: ({ description = '' }) => nullable(Type.Boolean({ description })),
    image: () => file('an uploaded image'),
    documents: () =>
      limitedList(
        DocumentBody,
        MAX_ENTRIES,
        '; replaces the list. Entries with an existing id stay the same document',
      ),
    certifications: () => limitedList(CertificationBody, MAX_ENTRIES, '; replaces the list, like documents'),
    valueChains: () =>
      limitedList(Type.Object({ id: Id }), MAX_VALUE_CHAINS, ', by their ids; replaces the list'),
    currency: () =>
      nullable(
        Type.Object(
          { code: nullable(Type.String({ maxLength: 10, description: 'ISO 4217 code' })) },
          { description: 'a currency type, identified by code' },
        ),
      ),
  },
);

const ProfileBody = Type.Object(profileFields);
export type SentAddress = Static<typeof AddressBody>;
export type SentProfile = Static<typeof ProfileBody>;

const word = (...examples: string[]) => Type.Optional(Type.String({ examples }));
const wordOf = ({ example }: { example?: string; max?: number }) =>
  example === undefined ? word() : word(example);

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
    ...(Object.fromEntries(Object.entries(ADDRESS).map(([field, each]) => [field, wordOf(each)])) as Record<
      AddressField,
      ReturnType<typeof word>
    >),
    country: Type.Optional(Country),
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

/** The schemas of answers, by kind of field. */
const ANSWER_SCHEMAS = {
  name: ({ example }: Field) => Type.String({ examples: [example] }),
  text: wordOf,
  url: wordOf,
  email: wordOf,
  flag: () => Type.Optional(Type.Boolean()),
  address: () => Type.Optional(Address),
  links: () => Type.Record(Type.String(), Type.String(), { description: 'links by medium' }),
  image: () => Type.Optional(StoredFile),
  documents: () => Type.Array(CompanyDocument),
  certifications: () => Type.Array(Certification),
  valueChains: () => Type.Array(BriefValueChain),
  currency: () =>
    Type.Optional(
      Type.Object({
        id: Type.Integer({ examples: [7] }),
        code: Type.String({ examples: ['RWF'] }),
        label: Type.String(),
        enabled: Type.Boolean(),
      }),
    ),
};

/** The profile of a company without files, value chains and currency; unset fields are absent. */
export const BriefProfile = named(
  'BriefCompany',
  Type.Object({ id: Type.Integer({ examples: [3] }), ...byKind(BRIEF, ANSWER_SCHEMAS) }),
);

/** The whole profile of a company. */
export const WholeProfile = Type.Object({ ...BriefProfile.properties, ...byKind(WHOLE, ANSWER_SCHEMAS) });
