import { t } from '../../messages/messages.svelte.ts';
import { TYPES } from './filters.ts';

/** The name of a type of packets; other programs may use further types, which are shown as they are. */
export function typeName(type: string): string {
  return (TYPES as readonly string[]).includes(type) ? t(`packets.type.${type}`) : type;
}
