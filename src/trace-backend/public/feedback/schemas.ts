import type { Static } from 'typebox';
import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { DateTime, Id, listOf, listQuery, PathId } from '../../base/contract/schemas.ts';
import { answerSchemaOf, nullable, oneOf, RecordKey, text } from '../../base/contract/shapes.ts';

export const TYPES = ['PRAISE', 'PROPOSAL', 'COMPLAINT'] as const;
export type FeedbackType = (typeof TYPES)[number];

const consent = nullable(Type.Boolean());
const fields = {
  type: oneOf(TYPES),
  email: text(255),
  feedback: text(4000),
  gdprConsent: consent,
  privacyPolicyConsent: consent,
  termsOfUseConsent: consent,
  questionnaireAnswers: nullable(
    Type.Record(RecordKey, Type.String({ maxLength: 1000 }), { maxProperties: 30 }),
  ),
};

const FeedbackForm = Type.Object(fields);
export type FeedbackBody = Static<typeof FeedbackForm>;
const FeedbackBodyOf = Type.Object({
  ...fields,
  labelId: nullable({ ...Id, description: 'ignored' } as typeof Id),
  productName: nullable(Type.String({ maxLength: 255, description: 'ignored' })),
});

const FeedbackView = named(
  'Feedback',
  answerSchemaOf(
    Type.Object({
      id: Type.Integer(),
      labelId: Type.Integer(),
      ...fields,
      productName: Type.Optional(Type.String()),
      at: Type.Optional(DateTime),
    }),
  ),
);

const tags = ['Label'];
const PublicParams = Type.Object({
  uuid: Type.String({ minLength: 1, maxLength: 100, description: 'uuid of the label' }),
});

/** Fields that lists can be sorted by. */
export const SORTABLE = ['id', 'email', 'gender', 'age', 'type'] as const;

export const addFeedbackSchema = {
  operationId: 'addLabelFeedback',
  tags,
  summary: 'Tell the producer something about the product of a published label',
  description:
    'Without a login. The e-mail address and the answers are for users who may change the product. An address takes ' +
    'gdprConsent. A label gets at most 500 a day, and 10,000 in all. The form of the page of the label sends it as a form, ' +
    'without the answers; clients that prefer text/html are led back to the page, with what is wrong if it was refused.',
  consumes: ['application/json', 'application/x-www-form-urlencoded'],
  params: PublicParams,
  body: FeedbackBodyOf,
  response: {
    200: {
      description: 'done',
      content: { 'application/json': { schema: Done }, 'text/html': { schema: Type.String() } },
    },
    303: { type: 'null', description: 'the page of the label, for clients that prefer text/html' },
    ...failureAnswers(404),
  },
};

export const listFeedbackSchema = {
  operationId: 'listLabelFeedback',
  tags,
  summary: 'What consumers wrote about the product of a label',
  description:
    'For users who may change the product, with everything; for everyone else, of a published label, only type and text.',
  params: PublicParams,
  querystring: listQuery(SORTABLE, {
    type: Type.Optional(Type.Enum([...TYPES], { description: 'only of this type' })),
  }),
  response: { 200: envelope(listOf(FeedbackView), 'a page of feedback'), ...failureAnswers(404) },
};

export const unseenFeedbackSchema = {
  operationId: 'listUnseenFeedback',
  tags,
  summary: 'The labels about which there is feedback that nobody has seen yet',
  description: 'Of products of the caller and of the companies that they act for: the oldest 20.',
  response: {
    200: envelope(
      Type.Array(
        Type.Object({
          labelId: Type.Integer(),
          title: Type.Optional(Type.String({ description: 'of the label' })),
          productName: Type.String(),
          count: Type.Integer({ description: 'how much' }),
        }),
      ),
      'the labels',
    ),
    ...failureAnswers(401),
  },
};

export const seeFeedbackSchema = {
  operationId: 'seeFeedback',
  tags,
  summary: 'Record that all feedback about a label was seen',
  description: 'By those who may change the product; it is then unseen for none of them.',
  params: Type.Object({ id: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};

export const deleteFeedbackSchema = {
  operationId: 'deleteLabelFeedback',
  tags,
  summary: 'Remove what a consumer wrote',
  params: Type.Object({ id: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};
