import type { Static } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { AnyLanguage } from '../../../base/contract/language.ts';
import { Id } from '../../../base/contract/schemas.ts';
import { nullable, oneOf, oneOrMany, text } from '../../../base/contract/shapes.ts';

export const LABEL_STATUSES = ['UNPUBLISHED', 'PUBLISHED'] as const;
export type LabelStatus = (typeof LABEL_STATUSES)[number];

const Value = Type.Unsafe<string | number | boolean>({
  type: ['string', 'number', 'boolean'],
  maxLength: 10_000,
});

export const Field = named(
  'LabelField',
  Type.Object({
    name: text(255),
    section: text(255),
    value: nullable(Value),
    visible: nullable(
      Type.Boolean({
        description:
          "whether the label shows the field; if true, fields of the label's content (description, company.name) have " +
          'the value from the content',
      }),
    ),
  }),
);
export type LabelField = Static<typeof Field>;

const labelTitle = {
  title: text(255),
  language: nullable(AnyLanguage),
};
/** Fields that the service sets and front ends send back. */
const ignoredFields = {
  status: oneOf(LABEL_STATUSES, 'ignored'),
};
const content = { ...labelTitle, fields: oneOrMany(Field, 200) };

/** A label in a product; id or uuid refer to an existing one. */
export const LabelBody = named(
  'ProductLabel',
  Type.Object({
    id: nullable(Id),
    uuid: nullable(Type.String({ maxLength: 100 })),
    ...content,
  }),
);
export type LabelBody = Static<typeof LabelBody>;

const uuid = nullable(Type.String({ maxLength: 100, description: 'ignored' }));
export const NewLabel = named('NewLabel', Type.Object({ productId: Id, ...content, uuid, ...ignoredFields }));
/** The members of a label's change, without its fields. */
export const labelChange = {
  id: Id,
  ...labelTitle,
  uuid,
  status: ignoredFields.status,
  productId: nullable({ ...Id, description: 'ignored' } as typeof Id),
};
export const LabelUpdate = named(
  'LabelUpdate',
  Type.Object({ ...labelChange, ...content, ...ignoredFields }),
);

export const LabelView = named(
  'Label',
  Type.Object({
    id: Type.Integer({ examples: [3] }),
    productId: Type.Integer(),
    status: Type.Enum([...LABEL_STATUSES]),
    uuid: Type.String({ examples: ['7a0e6e0c-52b6-4f0e-9a5b-0e4f3f6f3c11'] }),
    title: Type.Optional(Type.String()),
    language: Type.Optional(AnyLanguage),
    fields: Type.Array(Field),
  }),
);
