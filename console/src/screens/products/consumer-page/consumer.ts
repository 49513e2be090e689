import type { StoredFile } from '../../../api/stored-file.ts';
import { changedValues, type Values, valuesOf } from '../../../parts/forms/nested.ts';

/** Colours of pages that apps draw; the page of a label takes the first. */
export const COLOURS = [
  'primaryColor',
  'secondaryColor',
  'tertiaryColor',
  'quaternaryColor',
  'productTitleColor',
  'headingColor',
  'textColor',
] as const;

/**
 * The tabs of pages that apps draw: of each, a field says whether it is shown, and another one its place. The page of a
 * label shows its form for feedback with the tab of it.
 */
export const TABS = ['FairPrices', 'Producers', 'Quality', 'Feedback'] as const;

/** Graphics of apps that are shown or not. */
export const SHOWN_GRAPHICS = ['graphicFairPrices', 'graphicIncreaseOfIncome', 'graphicQuality'] as const;
/** Graphics of apps that show prices in one of several ways. */
export const PRICE_GRAPHICS = ['graphicPriceToProducer', 'graphicFarmGatePrice'] as const;

export const AMOUNTS = [
  'manualFarmGatePrice',
  'manualProducerPrice',
  'containerSize',
  'worldMarket',
  'fairTrade',
  'averageRegionFarmGatePrice',
] as const;

export const PICTURES = ['landingPageImage', 'landingPageBackgroundImage', 'headerBackgroundImage'] as const;
export const FONTS = ['productFont', 'textFont'] as const;

/** The settings that the page of a label uses: only these are in the form, and all others keep their values. */
const FILES = ['landingPageImage'];
const PATHS = ['primaryColor', 'tabFeedback'];

/** How the page for consumers looks, as its form holds it. */
export interface ConsumerForm {
  values: Values;
  files: Record<string, StoredFile | undefined>;
}

/** The form of the settings of a page; without them, nothing is set. */
export function formOf(settings: object = {}): ConsumerForm {
  const stored = settings as Record<string, StoredFile | undefined>;
  return {
    values: valuesOf(settings, PATHS),
    files: Object.fromEntries(FILES.map(name => [name, stored[name]])),
  };
}

/** The settings that a form makes of what has changed; an empty text clears a field. */
export function bodyOf(form: ConsumerForm, before: ConsumerForm): object {
  const files = FILES.filter(name => form.files[name]?.storageKey !== before.files[name]?.storageKey).map(
    name => [name, form.files[name] ? { storageKey: form.files[name].storageKey } : ''],
  );
  return { ...changedValues(form.values, before.values), ...Object.fromEntries(files) };
}

/**
 * The colour of headings on the page of a label: the main colour, in hexadecimal digits. Where it could not be read,
 * the page makes it darker or lighter (src/trace-backend/public/label-pages/colour.ts).
 */
export function headingColour({ values }: ConsumerForm): string | undefined {
  const colour = String(values.primaryColor ?? '').trim();
  return /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(colour) ? colour : undefined;
}
