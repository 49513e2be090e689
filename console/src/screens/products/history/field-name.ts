import { recordName } from '../../../api/record-names.svelte.ts';
import { t } from '../../../messages/messages.svelte.ts';
import { stepsTo } from './history.ts';

/**
 * The name of a field as the forms have it, such as: Places of origin 1 · Latitude.
 *
 * @param productId of the product whose history it is
 * @param above the path of what it is shown in, whose names are left out
 */
export function fieldName(path: string, productId: string, above = ''): string {
  const around = above === '' ? 0 : stepsTo(above).length;
  const steps = stepsTo(path);
  // The place in a list that is shown as a whole is a part of its last step.
  const shown = steps.length > around ? steps.slice(around) : steps.slice(-1);
  return shown
    .map(({ key, which = '', record }) => {
      const name = (record && recordName(record, which, productId)) || which;
      return key === undefined ? name : `${t(key)} ${name}`.trim();
    })
    .join(' · ');
}
