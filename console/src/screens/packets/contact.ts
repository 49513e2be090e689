/** How a person can be reached with whom something is shared. */
export type ContactKind = 'email' | 'phone';

/** As in the packet service: an address without quotes or comments, and a number with its country code. */
const EMAIL = /^[^\s@"'(),:;<>[\\\]]{1,64}@[^\s@"'(),:;<>[\\\]]{1,255}$/;
const PHONE = /^(?:\+|00)[\d ().\-/]+$/;
/** E.164, without its + */
const DIGITS = /^[1-9]\d{6,14}$/;

/** The kind of a typed contact; undefined if nobody can be reached by it. */
export function contactKind(typed: string): ContactKind | undefined {
  const text = typed.trim();
  if (EMAIL.test(text)) return 'email';
  if (!PHONE.test(text)) return undefined;
  const digits = text.replace('(0)', '').replace(/\D/g, '').replace(/^00/, '');
  return DIGITS.test(digits) ? 'phone' : undefined;
}
