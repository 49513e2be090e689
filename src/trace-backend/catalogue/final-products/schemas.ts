import type { Static } from 'typebox';
import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { LanguageHeader } from '../../base/contract/language.ts';
import { Id, listOf, listQuery, PathId } from '../../base/contract/schemas.ts';
import { nullable, text } from '../../base/contract/shapes.ts';
import { IfMatch } from '../../base/contract/versions.ts';
import { CODE_LISTS } from '../codes/lists.ts';
import { briefCode, reference } from '../codes/schemas.ts';
import { LabelView } from '../products/record/label-schemas.ts';
import { parts } from '../products/record/parts.ts';

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', examples: ['Roasted, 1 kg'] });

export const FinalProductBody = named(
  'FinalProduct',
  Type.Object({
    id: nullable({
      ...Id,
      description: 'id of an existing entry; without it, a new one is added',
    } as typeof Id),
    name: Name,
    description: text(2000),
    product: nullable(reference('ignored; the path names the product')),
    measurementUnitType: nullable(reference('its measure unit type')),
    labels: nullable(
      Type.Array(Type.Object({ id: Id }), {
        maxItems: 100,
        description: 'labels of the product that are printed on it',
      }),
    ),
  }),
);
export type FinalProductBody = Static<typeof FinalProductBody>;

const { fields: _fields, ...base } = LabelView.properties;
const Labels = Type.Array(Type.Object(base));

const FinalProductView = named(
  'FinalProduct',
  Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    product: Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      description: parts.description,
      origin: parts.origin,
    }),
    measurementUnitType: Type.Optional(briefCode(CODE_LISTS.measureUnitTypes)),
    labels: Labels,
  }),
);

const tags = ['Product'];
const productParams = { productId: PathId };
const finalProductParams = Type.Object({ ...productParams, finalProductId: PathId });

/** Fields that lists can be sorted by. */
export const SORTABLE = ['id', 'name'] as const;

export const saveFinalProductSchema = {
  operationId: 'saveFinalProduct',
  tags,
  summary: 'Add a final product to a product, or change one',
  description:
    'A final product is what customers buy. With an id, changes it: omitted fields stay unchanged. A product has ' +
    'at most 1,000.',
  headers: IfMatch,
  params: Type.Object(productParams),
  body: FinalProductBody,
  response: {
    200: envelope(Type.Object({ id: Type.Integer() }), 'the id of the final product'),
    ...failureAnswers(401, 403, 404, 412),
  },
};

export const getFinalProductSchema = {
  operationId: 'getFinalProduct',
  tags,
  summary: 'Get a final product',
  description: 'The ETag is the version; send it as If-Match with a change.',
  headers: LanguageHeader,
  params: finalProductParams,
  response: { 200: envelope(FinalProductView, 'the final product'), ...failureAnswers(401, 404) },
};

export const deleteFinalProductSchema = {
  operationId: 'deleteFinalProduct',
  tags,
  summary: 'Remove a final product',
  headers: IfMatch,
  params: finalProductParams,
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

export const finalProductLabelsSchema = {
  operationId: 'listFinalProductLabels',
  tags,
  summary: 'List the labels on a final product',
  params: finalProductParams,
  querystring: Type.Object({
    returnUnpublished: Type.Optional(
      Type.Boolean({ default: false, description: 'whether to include unpublished labels' }),
    ),
  }),
  response: { 200: envelope(Labels, 'the labels'), ...failureAnswers(401, 404) },
};

export const listFinalProductsSchema = (operationId: string, summary: string, parameter: string) => ({
  operationId,
  tags,
  summary,
  headers: LanguageHeader,
  params: Type.Object({ [parameter]: PathId }),
  querystring: listQuery(SORTABLE, {}),
  response: {
    200: envelope(listOf(FinalProductView), 'a page of final products'),
    ...failureAnswers(401, 404),
  },
});
