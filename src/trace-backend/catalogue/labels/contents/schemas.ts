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
  Type.Object(company, { description: 'the owner, as shown on the label' }),
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
  summary: 'Get the content of a label',
  description:
    'A copy of the product and its owner, made when the label is created and then changed independently. The ' +
    'ETag is the version of the label; send it as If-Match with a change.',
  params: LabelParams,
  response: { 200: envelope(ContentView, 'the content'), ...failureAnswers(401, 404) },
};

export const updateContentSchema = {
  operationId: 'updateLabelContent',
  tags,
  summary: 'Change the content of a label',
  description:
    'Null and omitted fields stay unchanged, in the label and in its parts; an empty text clears a field. The ' +
    'product itself stays unchanged.',
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
      description: 'name of the difference',
      examples: ['description', 'origin.locations', 'company.phone'],
    }),
    label: Type.Optional(Type.Any({ description: 'value on the label; absent if there is none' })),
    product: Type.Optional(
      Type.Any({ description: 'value on a new label of the product; absent if there is none' }),
    ),
    isNewer: Type.Boolean({
      description:
        'whether this value of the product has changed since the label was last compared or changed here; for the ' +
        'owner, only a new owner counts',
    }),
  }),
);

export const getDifferencesSchema = {
  operationId: 'getLabelDifferences',
  tags,
  summary: 'Compare a label with its product',
  description:
    'Compares the content of the label with what a new label of the product would copy. Empty and absent values ' +
    'are equal. The ETag covers the versions of both; send it as If-Match when you take values over.',
  params: LabelParams,
  response: {
    200: envelope(
      Type.Object({
        productChanged: Type.Boolean({
          description: "whether the label is published and one of the product's values is newer",
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
  summary: 'Copy values of the product to a label',
  description:
    "Copies the product's current values, including empty ones. The label then counts as compared: values that " +
    "aren't named stay unchanged and no longer count as newer in the product. Without names, no value changes.",
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
