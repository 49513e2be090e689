import type { Static } from 'typebox';
import { Type } from '../../../platform/type.ts';
import { Day } from '../../base/contract/dates.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { Id, listOf, listQuery, PathId } from '../../base/contract/schemas.ts';
import { answerSchemaOf, nullable, oneOf, text } from '../../base/contract/shapes.ts';
import { IfMatch } from '../../base/contract/versions.ts';
import { Document } from '../../catalogue/products/record/document.ts';

export const TYPES = ['FAIRNESS', 'QUALITY', 'PROVENANCE'] as const;
export type BlogType = (typeof TYPES)[number];

const Title = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', examples: ['How we pay'] });
const listedFields = {
  type: oneOf(TYPES),
  date: Day,
  youtubeUrl: text(1000),
};
const fields = {
  ...listedFields,
  summary: text(10_000),
  content: text(100_000),
  documents: nullable(Type.Array(Document, { maxItems: 100 })),
};

const NewEntry = Type.Object({ title: Title, ...fields });
const EntryUpdate = Type.Object({ id: Id, title: nullable(Title), ...fields });
export type EntryBody = Omit<Static<typeof EntryUpdate>, 'id'>;

const ListedView = answerSchemaOf(Type.Object({ id: Type.Integer(), title: Type.String(), ...listedFields }));
const EntryView = answerSchemaOf(Type.Object({ id: Type.Integer(), title: Type.String(), ...fields }));

const tags = ['Product'];
const ProductParams = Type.Object({ productId: PathId });
const Params = Type.Object({ id: PathId });

/** Fields that lists can be sorted by. */
export const SORTABLE = ['id', 'title', 'date', 'type'] as const;

export const addEntrySchema = {
  operationId: 'addProductKnowledge',
  tags,
  summary: "Add an entry to a product's knowledge blog",
  description:
    'At most 1,000 for a product. Entries are public while the product has a published label, unless ' +
    'knowledgeBlog is false.',
  params: ProductParams,
  body: NewEntry,
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};

export const updateEntrySchema = {
  operationId: 'updateProductKnowledge',
  tags,
  summary: 'Change an entry of a knowledge blog',
  description: 'Null and omitted fields stay unchanged; an empty text clears a field.',
  headers: IfMatch,
  body: EntryUpdate,
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

export const getEntrySchema = {
  operationId: 'getProductKnowledge',
  tags,
  summary: 'Get an entry of a knowledge blog',
  description: 'The ETag is the version; send it as If-Match with a change.',
  params: Params,
  response: { 200: envelope(EntryView, 'the entry'), ...failureAnswers(401, 404) },
};

export const publicEntrySchema = {
  operationId: 'getPublicProductKnowledge',
  tags,
  summary: 'Get an entry of a public knowledge blog',
  description: 'Entries are public while the product has a published label, unless knowledgeBlog is false.',
  params: Params,
  response: { 200: envelope(EntryView, 'the entry'), ...failureAnswers(404) },
};

export const listEntriesSchema = {
  operationId: 'listProductKnowledge',
  tags,
  summary: "List a product's knowledge blog",
  params: ProductParams,
  querystring: listQuery(SORTABLE, {
    type: Type.Optional(Type.Enum([...TYPES], { description: 'only entries of this type' })),
  }),
  response: { 200: envelope(listOf(ListedView), 'a page of entries'), ...failureAnswers(401, 404) },
};
