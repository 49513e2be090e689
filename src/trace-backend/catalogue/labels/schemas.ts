import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { Id, PathId } from '../../base/contract/schemas.ts';
import { answerSchemaOf, nullable, oneOrMany, text } from '../../base/contract/shapes.ts';
import { IfMatch } from '../../base/contract/versions.ts';
import { ConsumerSettings } from '../products/record/consumer.ts';
import { LabelUpdate, LabelView, labelChange, NewLabel } from '../products/record/label-schemas.ts';
import { LabelParams } from './contents/schemas.ts';

const tags = ['Label'];

const answers = { 200: envelope(LabelView, 'the label'), ...failureAnswers(401, 403, 404) };
const changeAnswers = { ...answers, ...failureAnswers(412) };

/** Fields that front ends send back with a label. */
const look = {
  businessToCustomerSettings: nullable({
    ...ConsumerSettings,
    description: 'ignored; set it in the content',
  } as typeof ConsumerSettings),
};

export const createLabelSchema = {
  operationId: 'createLabel',
  tags,
  summary: 'Add a label to a product, unpublished',
  body: Type.Object({ ...NewLabel.properties, ...look }),
  response: answers,
};

export const updateLabelSchema = {
  operationId: 'updateLabel',
  tags,
  summary: 'Change a label',
  description:
    'Null and omitted fields stay unchanged; an empty text clears a field. A published label stays published. ' +
    'The ETag is the new version.',
  headers: IfMatch,
  body: Type.Object({ ...LabelUpdate.properties, ...look }),
  response: changeAnswers,
};

/** The actions on labels. */
export const ACTIONS = ['PUBLISH_LABEL', 'UNPUBLISH_LABEL'] as const;
export type Action = (typeof ACTIONS)[number];

export const executeLabelSchema = {
  operationId: 'executeLabelAction',
  tags,
  summary: 'Publish or unpublish a label',
  description: 'A published label is public at /api/public/product/label/{uuid}.',
  headers: IfMatch,
  params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'the action' }) }),
  body: Type.Object({ id: Id }),
  response: changeAnswers,
};

export const deleteLabelSchema = {
  operationId: 'deleteLabel',
  tags,
  summary: 'Remove a label',
  description: 'Also removes published labels; their code then returns 404.',
  headers: IfMatch,
  params: Type.Object({ id: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

const { fields: _fields, ...base } = LabelView.properties;

export const listLabelsSchema = {
  operationId: 'listProductLabels',
  tags,
  summary: 'List the labels of a product',
  params: LabelParams,
  response: {
    200: envelope(
      Type.Array(
        Type.Object({
          ...base,
          productChanged: Type.Boolean({
            description:
              'whether the label is published and data that labels copy from the product has changed since',
          }),
        }),
      ),
      'the labels',
    ),
    ...failureAnswers(401, 404),
  },
};

export const getLabelSchema = {
  operationId: 'getLabel',
  tags,
  summary: 'Get a label',
  description:
    'The ETag is the version of the label with its content and its documents; send it as If-Match with a change.',
  params: LabelParams,
  response: {
    200: envelope(
      Type.Object({
        ...LabelView.properties,
        businessToCustomerSettings: answerSchemaOf(ConsumerSettings),
        url: Type.String({ description: "address of the label's page, which its code opens" }),
      }),
      'the label',
    ),
    ...failureAnswers(401, 404),
  },
};

const AnyValue = Type.Any({
  description: 'a text, a number or a boolean; content fields keep the type of the content',
});

export const getValuesSchema = {
  operationId: 'getLabelValues',
  tags,
  summary: 'Get a label with the values of visible and hidden fields',
  description: 'The ETag is the version of the label; send it as If-Match with a change.',
  params: LabelParams,
  response: {
    200: envelope(
      Type.Object({
        ...base,
        fields: Type.Array(
          Type.Object({ name: text(255), section: text(255), value: Type.Optional(AnyValue) }),
        ),
      }),
      'the label',
    ),
    ...failureAnswers(401, 404),
  },
};

export const updateValuesSchema = {
  operationId: 'updateLabelValues',
  tags,
  summary: 'Set the values of label fields',
  description:
    "Values of content fields, such as process.production, are stored in the label's content; all others in the " +
    'field. Omitted fields stay unchanged.',
  headers: IfMatch,
  body: Type.Object({
    ...labelChange,
    fields: oneOrMany(
      Type.Object({ name: text(255), section: text(255), value: Type.Optional(AnyValue) }),
      200,
    ),
  }),
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

const ByPlace = Type.Record(Type.String(), Type.Integer(), {
  description: "counts by place; addresses aren't located",
});

export const analyticsSchema = {
  operationId: 'getLabelAnalytics',
  tags,
  summary: 'Count views of a label and checks of its batches',
  description: 'Repeated views and checks from one address (IPv6: /64) count once in ten minutes.',
  params: Type.Object({
    uuid: Type.String({ minLength: 1, maxLength: 100, description: 'uuid of the label' }),
  }),
  response: {
    200: envelope(
      Type.Object({
        visits: Type.Integer(),
        visitsCountries: ByPlace,
        visitsLocations: ByPlace,
        authTrue: Type.Integer({ description: 'successful authenticity checks' }),
        authFalse: Type.Integer(),
        authCountries: ByPlace,
        authLocations: ByPlace,
        originTrue: Type.Integer({ description: 'origin checks that found a batch' }),
        originFalse: Type.Integer(),
        originCountries: ByPlace,
        originLocations: ByPlace,
      }),
      'the numbers',
    ),
    ...failureAnswers(401, 404),
  },
};

export const instructionsSchema = {
  operationId: 'getLabelInstructions',
  tags,
  summary: 'Get the QR code of a label with printing instructions, as a PDF',
  description: 'In the language of the label: English, German or Spanish.',
  params: LabelParams,
  response: {
    200: { description: 'a PDF file', content: { 'application/pdf': { schema: Type.Any() } } },
    ...failureAnswers(401, 404),
  },
};
