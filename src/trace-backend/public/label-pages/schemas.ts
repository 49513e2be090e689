import type { Static, TSchema } from 'typebox';
import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { AnyLanguage } from '../../base/contract/language.ts';
import { Id, NO_NUL } from '../../base/contract/schemas.ts';
import { answerSchemaOf } from '../../base/contract/shapes.ts';
import { IMAGE_TYPES } from '../../catalogue/images/schemas.ts';
import { BatchLocation, BatchView } from '../../catalogue/labels/batches/schemas.ts';
import { ShownCertification, ShownDocument } from '../../catalogue/labels/documents/schemas.ts';
import { ConsumerSettings } from '../../catalogue/products/record/consumer.ts';
import { LABEL_STATUSES } from '../../catalogue/products/record/label-schemas.ts';

const tags = ['Label'];

/** The public view of a published label. */
export const PublicLabel = named(
  'PublicLabel',
  Type.Object({
    id: Type.Integer(),
    productId: Type.Integer(),
    status: Type.Enum([...LABEL_STATUSES]),
    uuid: Type.String(),
    title: Type.Optional(Type.String()),
    language: Type.Optional(AnyLanguage),
    fields: Type.Array(
      Type.Object({
        name: Type.Optional(Type.String()),
        section: Type.Optional(Type.String()),
        value: Type.Optional(
          Type.Any({ description: "a text, a number or a boolean, or a part of the label's content" }),
        ),
      }),
    ),
    numberOfBatches: Type.Integer(),
    checkAuthenticityCount: Type.Integer({
      description: 'number of batches that can be checked for authenticity',
    }),
    traceOriginCount: Type.Integer({ description: 'number of batches with a traceable origin' }),
    businessToCustomerSettings: answerSchemaOf(ConsumerSettings),
    currency: Type.Optional(
      Type.String({ description: "currency of the label's prices; ISO 4217", examples: ['RWF'] }),
    ),
    videoMeetTheFarmers: Type.Optional(ShownDocument),
    photosMeetTheFarmers: Type.Array(ShownDocument),
    productionRecords: Type.Array(ShownDocument),
    certifications: Type.Array(ShownCertification, {
      description: "the owner's valid certifications, if the label shows the field company.certifications",
    }),
    product: Type.Object({ name: Type.String() }),
    company: Type.Optional(Type.Object({ name: Type.String() })),
    photo: Type.Optional(Type.String({ description: 'path of the picture' })),
  }),
);
export type PublicLabel = Static<typeof PublicLabel>;

const Uuid = Type.String({ minLength: 1, maxLength: 100, description: 'uuid of the label' });
const Params = Type.Object({ uuid: Uuid });

export const publicLabelSchema = {
  operationId: 'getPublishedLabel',
  tags,
  summary: 'Get a published label',
  description:
    'Returns JSON, or a page to clients that prefer text/html, such as browsers. The page has a form to check ' +
    'packages if any batches can be checked, and a feedback form if tabFeedback is true. The ETag changes with ' +
    'everything that is shown.',
  params: Params,
  querystring: Type.Object({
    feedback: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'sent: the page shows thanks for the feedback',
        examples: ['sent'],
      }),
    ),
  }),
  response: {
    200: {
      description: 'the label',
      content: {
        'application/json': { schema: envelope(PublicLabel, 'the label') },
        'text/html': { schema: Type.String() },
      },
    },
    304: Type.Null({ description: 'unchanged' }),
    ...failureAnswers(404),
  },
};

export const labelCodeSchema = (operationId: string, type: string) => ({
  operationId,
  tags,
  summary: `Get the QR code of a published label (${type})`,
  params: Params,
  response: {
    200: { description: 'a picture', content: { [type]: { schema: Type.Any() } } },
    ...failureAnswers(404),
  },
});

export const labelPhotoSchema = {
  operationId: 'getPublishedLabelPhoto',
  tags,
  summary: 'Get the product picture of a published label',
  params: Params,
  response: {
    200: {
      description: 'at most 1440 × 720',
      content: Object.fromEntries(IMAGE_TYPES.map(type => [type, { schema: Type.Any() }])),
    },
    ...failureAnswers(404),
  },
};

const batchNumber = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: NO_NUL,
  description: 'case is ignored',
  examples: ['B-001'],
});

export const publicBatchSchema = {
  operationId: 'getPublishedLabelBatch',
  tags,
  summary: 'Get a batch of a published label',
  description:
    'Includes the locations if the batch is traceable, and the dates unless they are used to check authenticity.',
  params: Type.Object({ uuid: Uuid, number: batchNumber }),
  response: { 200: envelope(BatchView, 'the batch'), ...failureAnswers(404) },
};

const ignoredId = Type.Optional({
  ...Id,
  description: 'ignored; the number identifies the batch',
} as typeof Id);
const dateInQuery = (description: string) => Type.Optional(Type.String({ maxLength: 40, description }));

/** An answer that is a page for browsers. */
const orPage = <Answer extends TSchema & { description?: string }>(answer: Answer) => ({
  description: answer.description ?? '',
  content: { 'application/json': { schema: answer }, 'text/html': { schema: Type.String() } },
});

export const checkAuthenticitySchema = {
  operationId: 'checkLabelBatchAuthenticity',
  tags,
  summary: 'Check the number and dates on a package',
  description:
    'For batches of published labels that allow checks. Send every date that the batch has. Clients that prefer ' +
    'text/html get the page of the label with the result.',
  params: Type.Object({ uuid: Uuid }),
  querystring: Type.Object({
    id: ignoredId,
    number: Type.Optional(batchNumber),
    productionDate: dateInQuery('the date of production on the package, YYYY-MM-DD'),
    expiryDate: dateInQuery('the expiry date on the package, YYYY-MM-DD'),
  }),
  response: { 200: orPage(envelope(Type.Boolean(), 'whether they match')), ...failureAnswers(404) },
};

export const checkOriginSchema = {
  operationId: 'checkLabelBatchOrigin',
  tags,
  summary: 'Get the origin of a batch',
  description:
    'Returns the locations if the batch of a published label allows it, and none for other numbers. Clients that ' +
    'prefer text/html get the page of the label with the result.',
  params: Type.Object({ uuid: Uuid }),
  querystring: Type.Object({
    id: ignoredId,
    number: Type.Optional(batchNumber),
    productionDate: dateInQuery('ignored; the form of the page sends it'),
    expiryDate: dateInQuery('ignored; the form of the page sends it'),
  }),
  response: {
    200: orPage(envelope(Type.Array(answerSchemaOf(BatchLocation)), 'the locations')),
    ...failureAnswers(404),
  },
};
