import { Problem } from '../../../../platform/http/problems.ts';
import { ISO_4217 } from '../../../base/currencies/iso-4217.ts';
import type { Parts } from './parts.ts';
import type { Content } from './store.ts';

const CODES = new Set(ISO_4217.map(([code]) => code));

/**
 * Checks the currency of the prices in a body.
 *
 * @throws Problem invalid
 */
export function checkPrices({ settings }: Pick<Parts, 'settings'>): void {
  const code = settings?.currency;
  if (code == null || code === '' || CODES.has(code)) return;
  throw new Problem('currency.not_in_iso_4217', { field: 'settings.currency' });
}

/** The currency of the prices in the content of a product or label; undefined if none is named. */
export function priceCurrencyOf(content: Content): string | undefined {
  return ((content.settings ?? {}) as { currency?: string }).currency;
}
