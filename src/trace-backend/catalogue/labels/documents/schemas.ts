import type { Static } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../../base/contract/envelope.ts';
import { Id } from '../../../base/contract/schemas.ts';
import { answerSchemaOf, nullable, oneOf, text } from '../../../base/contract/shapes.ts';
import { IfMatch } from '../../../base/contract/versions.ts';
import { Document } from '../../products/record/document.ts';
import { LabelParams } from '../contents/schemas.ts';

const TYPES = ['LINK', 'FILE'] as const;
const CATEGORIES = ['VIDEO', 'PRODUCTION_RECORD', 'MEET_THE_FARMER'] as const;

const fields = {
  type: oneOf(TYPES),
  category: oneOf(CATEGORIES),
  name: text(255),
  description: text(2000),
  quote: text(2000),
  link: text(1000),
  document: nullable(Document),
};

/** A document of a company as labels show it. */
export const ShownDocument = named(
  'ShownDocument',
  answerSchemaOf(Type.Object({ id: Type.Integer(), ...fields })),
);
export type ShownDocument = Static<typeof ShownDocument>;

/** A certification of a company as labels show it. */
export const ShownCertification = named(
  'ShownCertification',
  answerSchemaOf(
    Type.Object({
      id: Type.Integer(),
      type: text(255),
      description: text(2000),
      validity: text(50),
      certificate: nullable(Document),
    }),
  ),
);
export type ShownCertification = Static<typeof ShownCertification>;

const active = Type.Boolean({ description: 'whether the label shows it' });

const Chosen = Type.Array(Type.Object({ id: nullable(Id), ...fields, active: nullable(active) }), {
  maxItems: 1000,
});
export type Chosen = Static<typeof Chosen>;

const tags = ['Label'];

export const getDocumentsSchema = {
  operationId: 'getLabelDocuments',
  tags,
  summary: "List the owner's documents, and which ones a label shows",
  description:
    'Callers without access to the owner get only the documents that the label shows. The ETag is the version of ' +
    'the label; send it as If-Match with a change.',
  params: LabelParams,
  response: {
    200: envelope(Type.Array(Type.Object({ ...ShownDocument.properties, active })), 'the documents'),
    ...failureAnswers(401, 404),
  },
};

export const updateDocumentsSchema = {
  operationId: 'updateLabelDocuments',
  tags,
  summary: 'Choose which documents of the owner a label shows, and their order',
  description:
    'The label shows documents with active true: at most 1,000, and one video. Other fields are ignored; they ' +
    'come from the company.',
  headers: IfMatch,
  params: LabelParams,
  body: Chosen,
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};
