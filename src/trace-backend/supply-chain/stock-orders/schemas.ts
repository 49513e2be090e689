import { Type } from '../../../platform/type.ts';
import { envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { LanguageHeader } from '../../base/contract/language.ts';
import { NO_NUL } from '../../base/contract/schemas.ts';

const Uploaded = Type.Object({
  id: Type.Integer(),
  storageKey: Type.String(),
  name: Type.String(),
  contentType: Type.String(),
  size: Type.Integer(),
});

const optional = (description: string) => Type.Optional(Type.Number({ description }));
const word = (description: string) => Type.Optional(Type.String({ description }));

const Tagged = Type.Object({
  qrTag: Type.String(),
  orderId: word('the tagged order'),
  producerName: Type.Optional(Type.String()),
  priceToProducer: optional('price per kilogram'),
  priceToFarmer: optional('price per kilogram'),
  cuppingScore: optional('of 100'),
  cuppingFlavour: Type.Optional(Type.String()),
  roastingProfile: Type.Optional(Type.String()),
  certificates: Type.Array(
    Type.Object({
      id: Type.Integer(),
      type: Type.Optional(Type.String()),
      description: Type.Optional(Type.String()),
      certificate: Type.Optional(Uploaded),
      validity: word('YYYY-MM-DD'),
    }),
  ),
  historyTimeline: Type.Object({
    items: Type.Array(
      Type.Object({
        type: Type.String(),
        name: Type.String(),
        date: word('YYYY-MM-DD'),
        location: Type.Optional(Type.String()),
        longitude: Type.Optional(Type.Number()),
        latitude: Type.Optional(Type.Number()),
        step: Type.Integer(),
        steps: Type.Integer(),
        iconType: Type.Optional(Type.Enum(['SHIP', 'LEAF', 'WAREHOUSE', 'QRCODE', 'OTHER'])),
      }),
    ),
    journeyMarkers: Type.Array(Type.Object({ latitude: Type.Number(), longitude: Type.Number() })),
  }),
});

export const taggedOrderSchema = {
  operationId: 'getTaggedStockOrder',
  tags: ['Label'],
  summary: 'Get the journey of a stock order by the tag of its QR code',
  description:
    'Codes that belong only to a label have the tag EMPTY. Its journey is empty, and so is the journey of ' +
    'unknown tags.',
  headers: LanguageHeader,
  params: Type.Object({
    qrTag: Type.String({ minLength: 1, maxLength: 100, pattern: NO_NUL, examples: ['EMPTY'] }),
  }),
  querystring: Type.Object({
    withHistory: Type.Optional(
      Type.Boolean({ default: false, description: 'whether to include the journey' }),
    ),
  }),
  response: { 200: envelope(Tagged, 'the order'), ...failureAnswers() },
};
