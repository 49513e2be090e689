import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { nullable, oneOf, text } from '../../../base/contract/shapes.ts';
import { Document } from './document.ts';

/** The contents of graphics about prices. */
const GRAPHICS = ['DISABLED', 'PER_CONTAINER', 'PER_KG', 'PERCENT_VALUE'] as const;

/** A CSS colour. */
const colour = nullable(Type.String({ maxLength: 50, examples: ['#25265E'] }));
const visibility = nullable(Type.Boolean());
const position = nullable(Type.Integer({ minimum: 0, maximum: 100, description: 'position of the tab' }));
const amount = nullable(Type.Number({ minimum: -1e15, maximum: 1e15 }));

/** Fields that clients cannot set. */
export const READ_ONLY = ['id', 'creationTimestamp', 'updateTimestamp'];

const document = nullable(Document);

/** The design of pages for consumers, and the prices that they show. */
export const ConsumerSettings = named(
  'ConsumerSettings',
  Type.Object({
    id: nullable(Type.Integer({ description: 'read-only' })),
    creationTimestamp: text(100),
    updateTimestamp: text(100),
    primaryColor: colour,
    secondaryColor: colour,
    tertiaryColor: colour,
    quaternaryColor: colour,
    productTitleColor: colour,
    headingColor: colour,
    textColor: colour,
    tabFairPrices: visibility,
    tabProducers: visibility,
    tabQuality: visibility,
    tabFeedback: visibility,
    orderFairPrices: position,
    orderProducers: position,
    orderQuality: position,
    orderFeedback: position,
    productFont: document,
    textFont: document,
    landingPageImage: document,
    landingPageBackgroundImage: document,
    headerBackgroundImage: document,
    graphicFairPrices: visibility,
    graphicIncreaseOfIncome: visibility,
    graphicQuality: visibility,
    graphicPriceToProducer: oneOf(GRAPHICS),
    graphicFarmGatePrice: oneOf(GRAPHICS),
    manualFarmGatePrice: amount,
    manualProducerPrice: amount,
    containerSize: amount,
    worldMarket: amount,
    fairTrade: amount,
    averageRegionFarmGatePrice: amount,
  }),
);
