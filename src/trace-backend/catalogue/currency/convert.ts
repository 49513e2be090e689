import Big from 'big.js';

/** Decimals of a result. */
const DECIMALS = 6;

// A separate constructor, so that its precision applies only here.
const Decimal = Big();
Decimal.DP = DECIMALS;
Decimal.RM = Big.roundHalfUp;

/**
 * amount × to ÷ from, computed exactly and rounded once at the end, to six decimals, half away from zero. With equal
 * rates the amount stays unchanged.
 *
 * @param amount a decimal text
 * @param from value of one euro in the currency of the amount, a decimal text
 * @param to value of one euro in the target currency
 */
export function convertAmount(amount: string, from: string, to: string): string {
  // Big rounds only in the division; the product before it is exact.
  const result = new Decimal(amount).times(to).div(from);
  return result.toFixed();
}

/** Amounts in a path: up to 20 digits before the point and 10 after it. */
export const AMOUNT = '^-?[0-9]{1,20}(\\.[0-9]{1,10})?$';
