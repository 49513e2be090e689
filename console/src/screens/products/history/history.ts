import {
  AMOUNTS,
  COLOURS,
  FONTS,
  PICTURES,
  PRICE_GRAPHICS,
  SHOWN_GRAPHICS,
  TABS,
} from '../consumer-page/consumer.ts';

/** A step on the way to a field. */
export interface Step {
  /** of the message that names it; absent for what forms do not name */
  key?: string;
  /** which one of several: its place from 1, its id, or its name */
  which?: string;
}

interface Field {
  /** of its message */
  key: string;
  /** whether there are several, by their places or ids */
  several?: 'places' | 'ids';
  fields?: Fields;
}
/** Fields by their paths, of one or two names. */
type Fields = Record<string, Field>;

/** Fields whose messages are in one area, by their names in it. */
function fieldsOf(area: string, names: Record<string, string>): Fields {
  return Object.fromEntries(Object.entries(names).map(([path, name]) => [path, { key: `${area}.${name}` }]));
}

const TEXTS = [
  ...['name', 'description', 'origin.text', 'process.production', 'responsibility.laborPolicies'],
  ...['sustainability.production', 'sustainability.packaging', 'sustainability.co2Footprint'],
  ...['settings.costBreakdown', 'settings.incomeIncreaseDescription', 'settings.gdprText'],
  ...['settings.privacyPolicyText', 'settings.termsOfUseText', 'settings.language', 'knowledgeBlog'],
];
const PLACE = fieldsOf('products', {
  ...{ pinName: 'pin.name', latitude: 'pin.latitude', longitude: 'pin.longitude' },
  ...{ numberOfFarmers: 'pin.farmers', areaInHectares: 'pin.area', countryCode: 'pin.country' },
  ...{ address: 'pin.address', geoid: 'pin.geoid' },
});
const CONSUMER_PAGE = fieldsOf('consumer', {
  ...Object.fromEntries(
    [...COLOURS, ...SHOWN_GRAPHICS, ...PRICE_GRAPHICS, ...AMOUNTS, ...PICTURES, ...FONTS].map(name => [
      name,
      name,
    ]),
  ),
  ...Object.fromEntries(
    TABS.flatMap(tab => [
      [`tab${tab}`, `tab${tab}`],
      [`order${tab}`, 'tabs'],
    ]),
  ),
});
const BATCH = fieldsOf('labels', {
  ...{ number: 'batch.number', productionDate: 'batch.produced', expiryDate: 'batch.expires' },
  ...{ checkAuthenticity: 'batch.authentic', traceOrigin: 'batch.origin' },
});
const ENTRY = fieldsOf('products', {
  ...{ title: 'knowledge.title', type: 'knowledge.type', date: 'knowledge.date' },
  ...{ summary: 'knowledge.summary', content: 'knowledge.content', youtubeUrl: 'knowledge.video' },
  documents: 'knowledge.documents',
});
const PARTNER = fieldsOf('products', { company: 'partner.company', type: 'partner.relation' });
const AGREEMENT = fieldsOf('products', { description: 'field.description', document: 'file' });
const FINAL = fieldsOf('products', {
  ...{ name: 'field.name', description: 'field.description' },
  ...{ unitId: 'final.unit', labelIds: 'final.labels' },
});

const places = (key: string, fields: Fields): Field => ({ key, several: 'places', fields });
const ids = (key: string, fields: Fields): Field => ({ key, several: 'ids', fields });

/** What a product has, and a copy of it that a label has. */
const CONTENT: Fields = {
  ...fieldsOf(
    'products',
    Object.fromEntries(TEXTS.map(path => [path, `field.${path.replaceAll('.', '-')}`])),
  ),
  ...fieldsOf('products', {
    ...{ photo: 'photo', company: 'owner', valueChain: 'valueChain', origin: 'group.origin' },
    ...{ settings: 'group.settings', process: 'group.story', responsibility: 'group.story' },
    sustainability: 'group.story',
    ...{ 'settings.pricingTransparency': 'prices', 'settings.incomeIncreaseDocument': 'incomeDocument' },
  }),
  'origin.locations': places('products.pins', PLACE),
  journeyMarkers: places('products.journey', PLACE),
  associatedCompanies: places('products.partners', PARTNER),
  dataSharingAgreements: places('products.agreements', AGREEMENT),
  businessToCustomerSettings: { key: 'consumer.title', fields: CONSUMER_PAGE },
};
const LABEL: Fields = {
  status: { key: 'administration.status' },
  ...fieldsOf('labels', { title: 'name', language: 'language', fields: 'shows', documents: 'documents' }),
  batches: ids('labels.batches', BATCH),
  content: { key: 'labels.texts', fields: CONTENT },
};
const PRODUCT: Fields = {
  ...CONTENT,
  labels: ids('labels.label', LABEL),
  finalProducts: ids('products.finals', FINAL),
  knowledgeBlogs: ids('products.knowledge', ENTRY),
};

/** How the forms name the field of a path such as origin.locations.0.latitude, from the outside in. */
export function stepsTo(path: string): Step[] {
  const steps: Step[] = [];
  let names = path.split('.');
  let fields = PRODUCT;
  while (names.length > 0) {
    const length = Object.hasOwn(fields, names.slice(0, 2).join('.')) ? Math.min(2, names.length) : 1;
    const name = names.slice(0, length).join('.');
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) return [...steps, { which: names.join('.') }];
    names = names.slice(length);
    const which = field.several && names.shift();
    steps.push({
      key: field.key,
      ...(which !== undefined && { which: field.several === 'places' ? String(Number(which) + 1) : which }),
    });
    fields = field.fields ?? {};
  }
  return steps;
}

/** A value in a word, as far as it is one: lists and records are only counted. */
export type Shown = { text: string } | { isSet: boolean } | { count: number } | undefined;

/** What to show of a stored value; undefined if there is none. */
export function shownOf(value: unknown): Shown {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'boolean') return { isSet: value };
  if (typeof value !== 'object') return { text: String(value) };
  const { storageKey, name, id } = value as { storageKey?: unknown; name?: unknown; id?: unknown };
  if (storageKey !== undefined) return { text: String(name ?? storageKey) };
  const members = Object.keys(value).length;
  if (members === 1 && id !== undefined) return { text: String(id) };
  return { count: Array.isArray(value) ? value.length : members };
}
