/** Spaces and apostrophes between groups of digits: no language writes them before decimals. */
const GROUPERS = /[\s'’]/;
const CANONICAL = /^-?\d+(\.\d+)?$/;

/** The decimal mark of the first language that Intl knows. */
export function decimalMark(locales: readonly string[]): string {
  const parts = new Intl.NumberFormat([...locales]).formatToParts(1.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}

/** A number as the services have it, such as -1234.5, as a person of the language types it; other texts as they are. */
export function writtenNumber(value: string, mark: string): string {
  return CANONICAL.test(value) ? value.replace('.', mark) : value;
}

/**
 * A typed number as the services have it. One mark with three digits after it, such as 1.234, is a number only where the
 * mark is the decimal mark of the language, because it may mean a thousand or one and a bit.
 *
 * @returns undefined if it is no number, or may be two
 */
export function readNumber(text: string, mark: string): string | undefined {
  const match = /^([-+−]?)(\d[\d.,\s'’]*)$/.exec(text.trim());
  if (!match) return undefined;
  const [, sign = '', digits = ''] = match;
  const marks = [...new Set(digits.match(/[.,]/g))];
  if (marks.length > 1 || digits.split(/[.,]/).length === 2) {
    const at = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
    const [whole, decimals] = [digits.slice(0, at), digits.slice(at + 1)];
    const isUnclear = marks.length === 1 && digits[at] !== mark && isGroup(whole, decimals);
    const plain = ungrouped(whole, digits[at] as string);
    return isUnclear || plain === undefined || !/^\d+$/.test(decimals)
      ? undefined
      : signed(sign, `${plain}.${decimals}`);
  }
  const plain = ungrouped(digits, '');
  return plain === undefined ? undefined : signed(sign, plain);
}

/** Whether a mark between these may be one of thousands. */
function isGroup(whole: string, decimals: string): boolean {
  return /^[1-9]\d{0,2}$/.test(whole) && /^\d{3}$/.test(decimals);
}

/** The digits without what groups them; undefined if they are not grouped by three with one mark. */
function ungrouped(digits: string, decimal: string): string | undefined {
  if (/^\d+$/.test(digits)) return digits;
  const grouper = /\D/.exec(digits)?.[0] as string;
  const groups = digits.split(grouper);
  const isGrouped =
    /^\d{1,3}$/.test(groups[0] as string) && groups.slice(1).every(group => /^\d{3}$/.test(group));
  const isMark = GROUPERS.test(grouper) || /[.,]/.test(grouper);
  return grouper !== decimal && isMark && isGrouped ? groups.join('') : undefined;
}

function signed(sign: string, digits: string): string {
  return (/[-−]/.test(sign) ? '-' : '') + digits;
}
