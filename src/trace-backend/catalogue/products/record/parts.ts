import type { Static } from 'typebox';
import { named } from '../../../../platform/http/shared-parts.ts';
import { Type } from '../../../../platform/type.ts';
import { AnyLanguage } from '../../../base/contract/language.ts';
import { nullable, nullableEach, RecordKey, text } from '../../../base/contract/shapes.ts';
import { Address } from './address.ts';
import { ConsumerSettings, READ_ONLY } from './consumer.ts';
import { Document } from './document.ts';

const Geometry = named(
  'Geometry',
  Type.Object(
    {
      type: Type.Enum(['Point', 'Polygon']),
      coordinates: Type.Array(Type.Any(), { minItems: 1, maxItems: 2000 }),
    },
    {
      description: 'the plot: a GeoJSON Point or Polygon without holes; see docs/guides/origin.md',
      examples: [{ type: 'Point', coordinates: [29.120512, -1.219534] }],
    },
  ),
);

export const Location = named(
  'Location',
  Type.Object({
    address: nullable(
      Type.Unsafe<string | object>({
        type: ['string', 'object'],
        maxLength: 1000,
        properties: Address,
        description: 'coordinates',
      }),
    ),
    latitude: nullable(Type.Number({ minimum: -90, maximum: 90 })),
    longitude: nullable(Type.Number({ minimum: -180, maximum: 180 })),
    numberOfFarmers: nullable(Type.Integer({ minimum: 0 })),
    pinName: text(255),
    geoid: nullable(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'GeoID of the plot' })),
    geometry: nullable(Geometry),
    areaInHectares: nullable(Type.Number({ minimum: 0, description: 'area of a plot that is a point' })),
    countryCode: nullable(
      Type.String({
        pattern: '^[A-Z]{2}$',
        'x-reason': 'validation.country',
        description: 'ISO 3166-1 alpha-2',
      }),
    ),
  }),
);
export type Location = Static<typeof Location>;

const Origin = named(
  'Origin',
  Type.Object({
    text: text(2000),
    locations: nullable(Type.Array(Location, { maxItems: 1000 })),
  }),
);

const Process = Type.Object({ production: text(2000) });
const Responsibility = Type.Object({ laborPolicies: text(2000) });
const Sustainability = Type.Object({
  production: text(1000),
  packaging: text(1000),
  co2Footprint: text(255),
});

const Settings = named(
  'ProductSettings',
  Type.Object({
    costBreakdown: nullable(Type.Boolean()),
    currency: nullable(
      Type.String({
        maxLength: 3,
        description: 'currency of all prices, including businessToCustomerSettings; ISO 4217',
        examples: ['RWF'],
      }),
    ),
    pricingTransparency: nullable(
      Type.Record(RecordKey, Type.Number(), { maxProperties: 500, examples: [{ farmer: 4.2 }] }),
    ),
    incomeIncreaseDocument: nullable(Document),
    incomeIncreaseDescription: text(2000),
    gdprText: text(2000),
    language: nullable(AnyLanguage),
    privacyPolicyText: text(50_000),
    termsOfUseText: text(50_000),
  }),
);

const DataSharingAgreement = named(
  'DataSharingAgreement',
  Type.Object({
    id: nullable(Type.Integer({ description: 'set by the service' })),
    description: text(2000),
    document: nullable(Document),
  }),
);

const JourneyMarker = named(
  'JourneyMarker',
  Type.Object({
    latitude: nullable(Type.Number({ minimum: -90, maximum: 90 })),
    longitude: nullable(Type.Number({ minimum: -180, maximum: 180 })),
  }),
);

/** The parts whose fields are merged one by one: omitted fields stay unchanged, null clears. */
const objects = {
  origin: Origin,
  process: Process,
  responsibility: Responsibility,
  sustainability: Sustainability,
  settings: Settings,
  businessToCustomerSettings: ConsumerSettings,
};

/**
 * The parts of a product besides name, companies and labels. A change replaces parts that are not objects as a whole.
 */
export const parts = {
  photo: nullable(Document),
  description: text(2000),
  ...nullableEach(objects),
  journeyMarkers: nullable(Type.Array(JourneyMarker, { maxItems: 1000 })),
  knowledgeBlog: nullable(Type.Boolean()),
  dataSharingAgreements: nullable(Type.Array(DataSharingAgreement, { maxItems: 100 })),
};
/** The schema of the parts that a change sends. */
export const Parts = Type.Object(parts);
export type Parts = Static<typeof Parts>;

export const PARTS = Object.keys(parts) as (keyof typeof parts)[];

/** The known fields of parts; others are stored as sent. */
export const KNOWN_FIELDS = new Map(
  Object.entries(objects).map(([part, { properties }]) => [part, Object.keys(properties)]),
);

/** Fields of parts that clients cannot set. */
export const READ_ONLY_FIELDS = new Map([['businessToCustomerSettings', READ_ONLY]]);

/** The paths of images and documents in a product, besides those in lists: `photo`, `settings.incomeIncreaseDocument`. */
export type DocumentPath = PathsOf<Static<typeof Parts>>;
type PathsOf<Fields> = {
  [Name in keyof Fields & string]-?: PathIn<Name, NonNullable<Fields[Name]>>;
}[keyof Fields & string];
type PathIn<Name extends string, Field> = Field extends unknown[] | string | number | boolean
  ? never
  : string extends keyof Field
    ? never
    : 'storageKey' extends keyof Field
      ? Name
      : `${Name}.${PathsOf<Field>}`;
