import Big from 'big.js';

/** Decimals of a result. */
const DECIMALS = 6;

// A constructor of its own: its precision is nobody else's.
const Decimal = Big();
Decimal.DP = DECIMALS;
Decimal.RM = Big.roundHalfUp;

/**
 * amount × to ÷ from, reckoned exactly and rounded once at the end, to six decimals, half away from zero. The same
 * rate on both sides leaves the amount as it is.
 *
 * @param amount a decimal text
 * @param from what one euro is worth in the currency of the amount, a decimal text
 * @param to the same for the currency wanted
 */
export function convertAmount(amount: string, from: string, to: string): string {
  // Big divides to its precision in one step: the product before it is exact.
  const result = new Decimal(amount).times(to).div(from);
  return result.toFixed();
}

/** Amounts in a path: up to 20 digits before the point and 10 after it. */
export const AMOUNT = '^-?[0-9]{1,20}(\\.[0-9]{1,10})?$';
