import type { Static } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../../base/contract/envelope.ts';
import { Id, PathId } from '../../../base/contract/schemas.ts';
import { answerSchemaOf, nullable, RecordKey, text } from '../../../base/contract/shapes.ts';
import { IfMatch } from '../../../base/contract/versions.ts';
import { byKind, COPIED_BY_LABELS, type Field } from '../../companies/record/fields.ts';
import { Address } from '../../products/record/address.ts';
import { Document } from '../../products/record/document.ts';
import { parts } from '../../products/record/parts.ts';

const { knowledgeBlog: _knowledgeBlog, dataSharingAgreements: _agreements, ...labelParts } = parts;

/** The parts of a product that a label copies. */
export const LABEL_PARTS = Object.keys(labelParts);

const textOf = ({ max = 0 }: Field) => text(max);
const links = Type.Record(RecordKey, Type.String({ maxLength: 1000 }), { maxProperties: 20 });
const company = {
  id: nullable(Id),
  ...byKind(COPIED_BY_LABELS, {
    name: textOf,
    text: textOf,
    url: textOf,
    email: textOf,
    address: () => nullable(Type.Object(Address)),
    links: () => nullable(links),
    image: () => nullable(Document),
  }),
};

/** The fields of a company that a label copies. */
export const COMPANY_FIELDS = Object.keys(company);

const Company = named(
  'LabelCompany',
  Type.Object(company, { description: 'the owner, as the label presents it' }),
);

/** The content of a label about its product. */
export const ContentValues = Type.Object({
  name: nullable(Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' })),
  ...labelParts,
  company: nullable(Company),
});
export type ContentBody = Static<typeof ContentValues>;
const ContentBodyOf = Type.Object({
  labelId: Id,
  ...ContentValues.properties,
  id: nullable({ ...Id, description: 'ignored' } as typeof Id),
});

const ContentView = named(
  'LabelContent',
  Type.Object({
    id: Type.Integer({ description: 'id of the label' }),
    labelId: Type.Integer(),
    name: Type.String(),
    ...answerSchemaOf(Type.Object(labelParts)).properties,
    company: answerSchemaOf(Company),
  }),
);

const tags = ['Label'];
export const LabelParams = Type.Object({ id: PathId });

export const getContentSchema = {
  operationId: 'getLabelContent',
  tags,
  summary: 'What a label tells of its product',
  description:
    'A copy of the product and its owner, made with the label, which is then changed on its own. The ETag is the version ' +
    'of the label; send it as If-Match with a change.',
  params: LabelParams,
  response: { 200: envelope(ContentView, 'the content'), ...failureAnswers(401, 404) },
};

export const updateContentSchema = {
  operationId: 'updateLabelContent',
  tags,
  summary: 'Change what a label tells of its product',
  description:
    'Null and omitted fields change nothing, in the label and in its parts; an empty text clears a field. The product ' +
    'itself stays.',
  headers: IfMatch,
  body: ContentBodyOf,
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};

/** Maximum differences that a label takes over at once. */
const MAX_NAMES = 500;

const Difference = named(
  'LabelDifference',
  Type.Object({
    name: Type.String({
      description: 'what differs',
      examples: ['description', 'origin.locations', 'company.phone'],
    }),
    label: Type.Optional(Type.Any({ description: 'what the label tells; absent if nothing' })),
    product: Type.Optional(
      Type.Any({ description: 'what a new label of the product would tell; absent if nothing' }),
    ),
    isNewer: Type.Boolean({
      description:
        'whether the product has changed in it since the label was compared with the product, or changed in it; of the ' +
        'owner, only that the product got another one counts',
    }),
  }),
);

export const getDifferencesSchema = {
  operationId: 'getLabelDifferences',
  tags,
  summary: 'What a label tells otherwise than its product',
  description:
    'Compares the content of the label with what a new label of the product would copy. What is empty is no difference to ' +
    'what is absent. The ETag is of the versions of both; send it as If-Match with what is taken over.',
  params: LabelParams,
  response: {
    200: envelope(
      Type.Object({
        productChanged: Type.Boolean({
          description: 'whether the label is published and the product is newer in one of the differences',
        }),
        differences: Type.Array(Difference),
      }),
      'the differences, in the order of the content',
    ),
    ...failureAnswers(401, 404),
  },
};

export const takeOverSchema = {
  operationId: 'takeOverLabelDifferences',
  tags,
  summary: 'Take values of the product over into a label',
  description:
    'The label gets the present values of the product, also that there is none. It then counts as compared with the product: ' +
    'what is not named stays as the label has it, and is not newer in the product any more. Without names, the label ' +
    'stays as it is.',
  headers: IfMatch,
  params: LabelParams,
  body: Type.Object({
    names: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: MAX_NAMES,
      description: 'names of differences',
      examples: [['description', 'origin.locations']],
    }),
  }),
  response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
};
