import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { nullable, oneOf, text } from '../../../base/contract/shapes.ts';
import { Document } from './document.ts';

/** What graphics about prices show. */
const GRAPHICS = ['DISABLED', 'PER_CONTAINER', 'PER_KG', 'PERCENT_VALUE'] as const;

/** A CSS colour. */
const colour = nullable(Type.String({ maxLength: 50, examples: ['#25265E'] }));
const shown = nullable(Type.Boolean());
const place = nullable(Type.Integer({ minimum: 0, maximum: 100, description: 'place of the tab' }));
const amount = nullable(Type.Number({ minimum: -1e15, maximum: 1e15 }));

/** What clients cannot set in them. */
export const READ_ONLY = ['id', 'creationTimestamp', 'updateTimestamp'];

const document = nullable(Document);

/** How pages for consumers look, and what they show about prices. */
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
    tabFairPrices: shown,
    tabProducers: shown,
    tabQuality: shown,
    tabFeedback: shown,
    orderFairPrices: place,
    orderProducers: place,
    orderQuality: place,
    orderFeedback: place,
    productFont: document,
    textFont: document,
    landingPageImage: document,
    landingPageBackgroundImage: document,
    headerBackgroundImage: document,
    graphicFairPrices: shown,
    graphicIncreaseOfIncome: shown,
    graphicQuality: shown,
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
