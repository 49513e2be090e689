import type { Static, TSchema } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../../base/contract/envelope.ts';
import { LanguageHeader } from '../../../base/contract/language.ts';
import {
  DateTime,
  EXAMPLE_COMPANY,
  Id,
  listOf,
  listQuery,
  PathId,
  searchFilters,
} from '../../../base/contract/schemas.ts';
import { answerSchemaOf, nullable, oneOrMany } from '../../../base/contract/shapes.ts';
import { IfMatch } from '../../../base/contract/versions.ts';
import { reference } from '../../codes/schemas.ts';
import { COMPANY_TYPES } from '../../companies/record/company-types.ts';
import { WholeProfile } from '../../companies/record/profile-schemas.ts';
import { CompanyStatus } from '../../companies/record/schemas.ts';
import { ValueChain } from '../../value-chains/schemas.ts';
import { LabelBody, LabelView } from './label-schemas.ts';
import { parts } from './parts.ts';

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', examples: ['Washed Bourbon'] });

const AssociatedCompany = named(
  'AssociatedCompany',
  Type.Object({
    company: Type.Object({ id: Id }),
    type: Type.Enum([...COMPANY_TYPES], {
      description: 'relation to the product; OWNER only for the owning company',
    }),
  }),
);

const fields = {
  ...parts,
  company: nullable(
    Type.Object(
      { id: nullable(Id as TSchema as typeof Id) },
      { description: 'the owner; by default your only company' },
    ),
  ),
  valueChain: nullable(reference('the value chain; its other fields are ignored')),
  associatedCompanies: oneOrMany(AssociatedCompany, 200),
  labels: oneOrMany(LabelBody, 50),
};

export const NewProduct = named('NewProduct', Type.Object({ name: Name, ...fields }));
const ProductUpdate = named('ProductUpdate', Type.Object({ id: Id, name: Type.Optional(Name), ...fields }));
export type ProductBody = Omit<Static<typeof ProductUpdate>, 'id'>;

const CompanyName = Type.Object({ id: Type.Integer(), name: Type.String({ examples: ['Kopanyi'] }) });

const { id: _id, name: _name, ...whole } = WholeProfile.properties;
const profile = { status: CompanyStatus, ...whole };

/** The owner of a product: the whole company for callers who may see it, otherwise its id and name. */
const Owner = named(
  'ProductOwner',
  Type.Object({ ...CompanyName.properties, ...Type.Partial(Type.Object(profile)).properties }),
);

const ProductView = named(
  'Product',
  Type.Object({
    id: Type.Integer({ examples: [12] }),
    name: Type.String(),
    ...answerSchemaOf(Type.Object(parts)).properties,
    company: Type.Optional(Owner),
    valueChain: Type.Partial(ValueChain),
    associatedCompanies: Type.Array(
      Type.Object({ company: CompanyName, type: Type.Enum([...COMPANY_TYPES]) }),
    ),
    labels: Type.Array(LabelView),
    createdAt: DateTime,
    updatedAt: DateTime,
  }),
);

const ProductItem = named(
  'ProductItem',
  Type.Object({
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
    photoStorageId: Type.Optional(Type.String({ description: 'storage key of the photo' })),
    company: Type.Optional(CompanyName),
    updatedAt: DateTime,
  }),
);

export const Change = named(
  'ProductChange',
  Type.Object({
    id: Type.Integer(),
    at: DateTime,
    version: Type.Integer({ description: 'version after the change' }),
    user: Type.Object({ id: Type.Integer(), name: Type.String(), surname: Type.String() }),
    path: Type.String({
      description: 'path of the field; empty when the product was created',
      examples: ['origin.text'],
    }),
    before: Type.Optional(Type.Any({ description: 'absent if there was no value' })),
    after: Type.Optional(Type.Any({ description: 'absent if there is no value' })),
  }),
);

const tags = ['Product'];

const Identified = envelope(Type.Object({ id: Type.Integer({ examples: [12] }) }), 'the id of the product');

const Params = Type.Object({ id: PathId });

export const HISTORY_SORTABLE = ['id'] as const;

export const createProductSchema = {
  operationId: 'createProduct',
  tags,
  summary: 'Add a product',
  description:
    'The product belongs to the given company, if you act for it, or else to your only company, or else to you. ' +
    'The plots in origin.locations have at most 15,000 positions in all. Plots of more than 4 hectares must be ' +
    'polygons, with at most 2,000 positions and 5 degrees from side to side.',
  body: {
    ...NewProduct,
    examples: [
      {
        name: 'Washed Bourbon',
        description: 'Coffee from the shore of Lake Kivu',
        company: { id: Number(EXAMPLE_COMPANY) },
      },
    ],
  },
  response: { 200: Identified, ...failureAnswers(401) },
};

export const updateProductSchema = {
  operationId: 'updateProduct',
  tags,
  summary: 'Change a product',
  description:
    'Null and omitted fields stay unchanged, in the product and in its parts; an empty text clears a field; a ' +
    'list replaces the existing list. Published labels stay even if you leave them out of labels; a product has ' +
    'at most 100.',
  headers: IfMatch,
  body: ProductUpdate,
  response: { 200: Identified, ...failureAnswers(401, 403, 404, 412) },
};

export const deleteProductSchema = {
  operationId: 'deleteProduct',
  tags,
  summary: 'Remove a product',
  description: 'Removes its labels too, including published ones. The history is kept.',
  params: Params,
  headers: IfMatch,
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

export const leaveProductSchema = {
  operationId: 'leaveProduct',
  tags,
  summary: 'Remove an associated company from a product',
  description:
    'For members of the company, who then no longer see the product or its pictures, and for users who can ' +
    "change the product. The owner can't be removed. If a member removed the company, only its members can add " +
    'it again, unless one of them allows it.',
  params: Type.Object({ id: PathId, companyId: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};

export const allowProductSchema = {
  operationId: 'allowProduct',
  tags,
  summary: 'Allow a product that your company has left to name it again',
  description:
    "For members of a company that a member has removed from the product, even if they can't see the product. " +
    'Users who can change the product can then add the company again.',
  params: Type.Object({ id: PathId, companyId: PathId }),
  response: { 200: Done, ...failureAnswers(401, 404) },
};

export const getProductSchema = {
  operationId: 'getProduct',
  tags,
  summary: 'Get a product',
  description: 'The ETag is the version; send it as If-Match with a change.',
  headers: LanguageHeader,
  params: Params,
  querystring: Type.Object({
    includeLabels: Type.Optional(
      Type.Boolean({ default: true, description: 'whether to include labels; otherwise labels is empty' }),
    ),
  }),
  response: { 200: envelope(ProductView, 'the product'), ...failureAnswers(401, 404) },
};

export const originSchema = {
  operationId: 'getProductOrigin',
  tags,
  summary: "Export a product's origin as a geolocation file for the EU deforestation regulation",
  description:
    'Returns a GeoJSON feature per location of the origin; 400 lists the features that would be rejected.',
  params: Params,
  response: {
    200: {
      description: 'a FeatureCollection, in WGS 84 with six decimals',
      content: { 'application/geo+json': { schema: Type.Object({}, { additionalProperties: true }) } },
    },
    ...failureAnswers(401, 404),
  },
};

/** Fields that lists can be sorted by. */
export const SORTABLE = ['id', 'name', 'updatedAt'] as const;

export const listProductsSchema = (
  operationId: string,
  access: 'user' | 'regional-admin',
  summary: string,
) => ({
  operationId,
  tags,
  summary,
  headers: LanguageHeader,
  querystring: listQuery(SORTABLE, {
    ...searchFilters('part of the name; case is ignored'),
    companyId: Type.Optional({ ...Id, description: 'the owner' } as typeof Id),
  }),
  response: {
    200: envelope(listOf(ProductItem), 'a page of products'),
    ...(access === 'user' ? failureAnswers(401) : failureAnswers(401, 403)),
  },
});

export const productHistorySchema = {
  operationId: 'getProductHistory',
  tags,
  summary: 'Get the history of a product: who changed which field, and when',
  description:
    'For users who can change the product. A SYSTEM_ADMIN can also read the history of a deleted product.',
  params: Params,
  querystring: listQuery(HISTORY_SORTABLE, {}),
  response: { 200: envelope(listOf(Change), 'a page of changes'), ...failureAnswers(401, 403, 404) },
};
