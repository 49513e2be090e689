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
  const sentence = 'settings.currency is not a currency of ISO 4217';
  throw new Problem('invalid', sentence, { fields: { 'settings.currency': sentence } });
}

/** The currency of the prices in the content of a product or label; undefined if none is named. */
export function priceCurrencyOf(content: Content): string | undefined {
  return ((content.settings ?? {}) as { currency?: string }).currency;
}
