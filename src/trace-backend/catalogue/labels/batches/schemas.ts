import type { Static } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { Day } from '../../../base/contract/dates.ts';
import { Done, envelope, failureAnswers } from '../../../base/contract/envelope.ts';
import { Id, listOf, listQuery, NO_NUL, PathId } from '../../../base/contract/schemas.ts';
import { answerSchemaOf, nullable } from '../../../base/contract/shapes.ts';
import { IfMatch } from '../../../base/contract/versions.ts';
import { Document } from '../../products/record/document.ts';
import { Location } from '../../products/record/parts.ts';

const { address, latitude, longitude, numberOfFarmers, pinName, countryCode } = Location.properties;
export const BatchLocation = named(
  'BatchLocation',
  Type.Object({ address, latitude, longitude, numberOfFarmers, pinName, countryCode }),
);
export type BatchLocation = Static<typeof BatchLocation>;
export const BatchLocations = Type.Array(BatchLocation, { maxItems: 1000 });

const Num = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', examples: ['B-001'] });
const fields = {
  productionDate: Day,
  expiryDate: Day,
  locations: nullable(BatchLocations),
  photo: nullable(Document),
  checkAuthenticity: nullable(
    Type.Boolean({ description: 'whether everyone can check the number and dates on a package' }),
  ),
  traceOrigin: nullable(Type.Boolean({ description: 'whether everyone can see the locations' })),
};

const NewBatch = named('NewBatch', Type.Object({ labelId: Id, number: Num, ...fields }));
const BatchUpdate = named(
  'BatchUpdate',
  Type.Object({
    id: Id,
    labelId: nullable({ ...Id, description: 'ignored' } as typeof Id),
    number: nullable(Num),
    ...fields,
  }),
);
export type BatchBody = Omit<Static<typeof BatchUpdate>, 'id' | 'labelId'>;

export const BatchView = named(
  'LabelBatch',
  answerSchemaOf(
    Type.Object({ id: Type.Integer(), labelId: Type.Integer(), number: Type.String(), ...fields }),
  ),
);

const tags = ['Label'];
const Params = Type.Object({ id: PathId });

/** Fields that lists can be sorted by. */
export const SORTABLE = ['id', 'number', 'productionDate', 'expiryDate'] as const;

export const createBatchSchema = {
  operationId: 'createLabelBatch',
  tags,
  summary: 'Add a batch to a label',
  description: 'A label has at most 10,000 batches. Numbers are unique, ignoring case.',
  body: NewBatch,
  response: {
    200: envelope(Type.Object({ id: Type.Integer() }), 'the id of the batch'),
    ...failureAnswers(401, 403, 404),
  },
};

export const updateBatchSchema = {
  operationId: 'updateLabelBatch',
  tags,
  summary: 'Change a batch',
  description:
    "Null and omitted fields stay unchanged; an empty text clears a field. Batches can't move to another label.",
  headers: IfMatch,
  body: BatchUpdate,
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

export const getBatchSchema = {
  operationId: 'getLabelBatch',
  tags,
  summary: 'Get a batch',
  description: 'The ETag is the version; send it as If-Match with a change.',
  params: Params,
  response: { 200: envelope(BatchView, 'the batch'), ...failureAnswers(401, 404) },
};

export const deleteBatchSchema = {
  operationId: 'deleteLabelBatch',
  tags,
  summary: 'Remove a batch',
  headers: IfMatch,
  params: Params,
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

export const listBatchesSchema = {
  operationId: 'listLabelBatches',
  tags,
  summary: 'List the batches of a label',
  params: Params,
  querystring: listQuery(SORTABLE, {
    number: Type.Optional(
      Type.String({ maxLength: 255, pattern: NO_NUL, description: 'part of the number; case is ignored' }),
    ),
  }),
  response: { 200: envelope(listOf(BatchView), 'a page of batches'), ...failureAnswers(401, 404) },
};
