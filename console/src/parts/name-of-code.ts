import { t } from '../messages/messages.svelte.ts';

/** The name of a code, which says that the code is disabled. */
export function nameOfCode(name: string, isDisabled: boolean): string {
  return isDisabled ? `${name} (${t('codes.field.disabled')})` : name;
}
