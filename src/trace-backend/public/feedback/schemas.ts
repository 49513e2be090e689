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
  summary: 'Send feedback about the product of a published label',
  description:
    'Needs no login. Only users who can change the product see the email address and the answers. An email ' +
    "address requires gdprConsent. A label gets at most 500 a day, and 10,000 in all. The form on the label's " +
    'page sends form data without the answers. Clients that prefer text/html are redirected to the page, which ' +
    'shows any errors.',
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
  summary: "List consumer feedback about a label's product",
  description:
    'Users who can change the product get all fields. Everyone else gets only type and text, and only for ' +
    'published labels.',
  params: PublicParams,
  querystring: listQuery(SORTABLE, {
    type: Type.Optional(Type.Enum([...TYPES], { description: 'only entries of this type' })),
  }),
  response: { 200: envelope(listOf(FeedbackView), 'a page of feedback'), ...failureAnswers(404) },
};

export const unseenFeedbackSchema = {
  operationId: 'listUnseenFeedback',
  tags,
  summary: 'List labels with unseen feedback',
  description: 'Returns the oldest 20, for products of the caller and of their companies.',
  response: {
    200: envelope(
      Type.Array(
        Type.Object({
          labelId: Type.Integer(),
          title: Type.Optional(Type.String({ description: 'uuid of the label' })),
          productName: Type.String(),
          count: Type.Integer({ description: 'number of unseen entries' }),
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
  summary: 'Mark all feedback about a label as seen',
  description: 'For users who can change the product; it marks the feedback as seen for all of them.',
  params: Type.Object({ id: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};

export const deleteFeedbackSchema = {
  operationId: 'deleteLabelFeedback',
  tags,
  summary: 'Remove feedback',
  params: Type.Object({ id: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};
