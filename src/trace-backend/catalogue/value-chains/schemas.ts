import type { Static, TSchema } from 'typebox';
import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { LanguageHeader } from '../../base/contract/language.ts';
import { Id, listOf, listQuery, PathId, QueryIds, searchFilters } from '../../base/contract/schemas.ts';
import { nullable, text } from '../../base/contract/shapes.ts';
import { IfMatch } from '../../base/contract/versions.ts';
import { CODE_LISTS, type CodeList } from '../codes/lists.ts';
import { briefCode, reference, shownCode } from '../codes/schemas.ts';
import { SORTABLE as CODE_SORTABLE } from '../codes/store.ts';
import { LINKS, SORTABLE, STATUSES } from './store.ts';

const tags = ['Value chain'];

/** Maximum codes of one kind per value chain. */
const MAX_CODES = 1000;

const Status = Type.Enum([...STATUSES], { description: 'a new value chain is ENABLED' });

const codeReferences = (description: string) =>
  nullable(Type.Array(reference('identified by id'), { maxItems: MAX_CODES, description }));

const ValueChainBody = named(
  'ValueChain',
  Type.Object({
    id: nullable({
      ...Id,
      description: 'id of the entry to change; without it, a new one is added',
    } as typeof Id),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '\\S',
        description: 'required for new entries',
        examples: ['Coffee Rwanda'],
      }),
    ),
    description: text(2000),
    valueChainStatus: Type.Optional(
      Type.Enum([...STATUSES], { description: 'ignored; use POST …/enable and …/disable' }),
    ),
    facilityTypes: codeReferences('replaces all previous entries'),
    measureUnitTypes: codeReferences('replaces all previous entries'),
    processingEvidenceTypes: codeReferences('replaces all previous entries'),
    processingEvidenceFields: codeReferences('replaces all previous entries'),
    semiProducts: codeReferences('replaces all previous entries'),
    productType: nullable(reference('type of the products')),
  }),
);
export type ValueChainBody = Static<typeof ValueChainBody>;

const brief = {
  id: Type.Integer({ examples: [7] }),
  name: Type.String({ examples: ['Coffee Rwanda'] }),
  description: Type.Optional(Type.String({ examples: ['From cherry to cup'] })),
  valueChainStatus: Status,
  productType: Type.Optional(briefCode(CODE_LISTS.productTypes)),
};

const codesOf = (field: keyof typeof LINKS) =>
  Type.Optional(
    Type.Array(briefCode(LINKS[field].list), { description: 'absent in lists and in other records' }),
  );

/** A value chain; in lists and in other records without its codes. */
export const ValueChain = named(
  'ValueChainItem',
  Type.Object({
    ...brief,
    facilityTypes: codesOf('facilityTypes'),
    measureUnitTypes: codesOf('measureUnitTypes'),
    processingEvidenceTypes: codesOf('processingEvidenceTypes'),
    processingEvidenceFields: codesOf('processingEvidenceFields'),
    semiProducts: codesOf('semiProducts'),
  }),
);

const Saved = envelope(Type.Object({ id: Type.Integer({ examples: [7] }) }), 'its id');
const params = Type.Object({ id: PathId });
const headers = LanguageHeader;
const page = (item: TSchema, items: string) => envelope(listOf(item), `a page of ${items}`);

export const saveValueChainSchema = {
  operationId: 'createOrUpdateValueChain',
  tags,
  summary: 'Add or change a value chain',
  description: "Omitted fields stay unchanged. Disabled value chains can't be changed.",
  headers: IfMatch,
  body: ValueChainBody,
  response: { 200: Saved, ...failureAnswers(401, 403, 404, 412) },
};

export const listValueChainsSchema = {
  operationId: 'getValueChainList',
  tags,
  summary: 'List value chains',
  headers,
  querystring: listQuery(SORTABLE, {
    ...searchFilters('part of the name'),
    valueChainStatus: Type.Optional(
      Type.Enum([...STATUSES], { description: 'only value chains with this status' }),
    ),
    productTypeId: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'id of the product type' }),
    ),
  }),
  response: { 200: page(ValueChain, 'value chains'), ...failureAnswers(401) },
};

export const getValueChainSchema = {
  operationId: 'getValueChain',
  tags,
  summary: 'Get a value chain with its codes',
  description: 'The ETag is the version; send it as If-Match with a change.',
  headers,
  params,
  response: { 200: envelope(ValueChain, 'the value chain'), ...failureAnswers(401, 404) },
};

export const switchValueChainSchema = (operationId: string, summary: string) => ({
  operationId,
  tags,
  summary,
  headers: IfMatch,
  params,
  response: { 200: Saved, ...failureAnswers(401, 403, 404, 412) },
});

export const deleteValueChainSchema = {
  operationId: 'deleteValueChain',
  tags,
  summary: 'Delete a value chain',
  description: 'Not possible while a company or product refers to it.',
  headers: IfMatch,
  params,
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

const { productTypes } = CODE_LISTS;
const codesPage = (list: CodeList) => ({
  200: page(shownCode(list), `${list.noun}s`),
  ...failureAnswers(401, 404),
});
const codeQuery = listQuery(CODE_SORTABLE, {});

/** The codes of a list that one value chain uses. */
export const codesOfOneSchema = (list: CodeList, operationId: string) => ({
  operationId,
  tags,
  summary: `List the ${list.noun}s of a value chain`,
  headers,
  params,
  querystring: codeQuery,
  response: codesPage(list),
});

/** The codes of a list that several value chains use. */
export const codesOfSeveralSchema = (list: CodeList, operationId: string) => ({
  operationId,
  tags,
  summary: `List the ${list.noun}s of value chains`,
  headers,
  querystring: listQuery(CODE_SORTABLE, { valueChainIds: QueryIds }),
  response: codesPage(list),
});

export const companyValueChainsSchema = {
  operationId: 'getCompanyValueChains',
  tags,
  summary: 'List the value chains of a company',
  headers,
  params,
  querystring: listQuery(SORTABLE, {}),
  response: { 200: page(ValueChain, 'value chains'), ...failureAnswers(401, 404) },
};

export const companyProductTypesSchema = {
  operationId: 'getCompanyProductTypes',
  tags,
  summary: 'List the product types of the value chains of a company',
  headers,
  params,
  querystring: codeQuery,
  response: codesPage(productTypes),
};
