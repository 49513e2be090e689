import type english from '../../../../messages/en/labels.json';
import { readMessages } from '../../../platform/messages/messages.ts';
import { fieldsLabelsShow } from '../../catalogue/companies/record/fields.ts';

const wordsIn = readMessages<`labels.${keyof typeof english}`>('labels.json');

/** The headings of a label's page, shared with the console's preview, and the title of the map. */
const HEADINGS = new Map(
  (
    [
      'labels.part.description',
      'labels.part.origin',
      'labels.part.origin-map',
      'labels.part.journeyMarkers',
      'labels.part.process-production',
      'labels.part.responsibility-laborPolicies',
      'labels.part.sustainability-production',
      'labels.part.sustainability-packaging',
      'labels.part.sustainability-co2Footprint',
      ...fieldsLabelsShow().map(name => `labels.part.company-${name}` as const),
      'labels.part.company-certifications',
      'labels.part.certification-until',
      'labels.part.documents',
    ] as const
  ).map(key => [key.slice('labels.part.'.length).replaceAll('-', '.'), key]),
);

/**
 * The heading of a field of a label's content.
 *
 * @param path of the field, such as process.production
 * @param language of the label; without a translation the heading is English
 * @returns undefined if the page has no heading for the field
 */
export function termOf(path: string, language?: string): string | undefined {
  const key = HEADINGS.get(path);
  return key && wordsIn(language).t(key);
}
