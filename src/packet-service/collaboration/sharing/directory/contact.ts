import { Problem } from '../../../../platform/http/problems.ts';
import { readEmail } from '../../../../platform/mail/email.ts';

/** Maximum characters of a contact: the longest email address (RFC 5321 §4.5.3.1). */
export const MAX_CONTACT = 320;

/** How a contact can be reached. */
export type ContactKind = 'email' | 'phone' | 'other';

/** Digits with common separators; (0) is the trunk zero, which is not dialled from abroad. */
const PHONE = /^(?:\+|00)[\d ().\-/]+$/;
/** E.164: up to 15 digits, the first not zero. */
const E164 = /^\+[1-9]\d{6,14}$/;

/**
 * Normalises a contact: an email address to lower case with the domain in ASCII; an international phone number to +
 * and digits; anything else is trimmed and lower-cased.
 *
 * @param field name of the request field, for the error
 * @throws Problem invalid when it is empty, too long, or holds control characters
 */
export function readContact(value: string, field: string): string {
  const text = value.normalize('NFC').trim();
  if (text === '' || text.length > MAX_CONTACT) {
    throw new Problem('contact.wrong_length', { field, max: MAX_CONTACT });
  }
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) throw new Problem('contact.control_character', { field });
  return readEmail(text) ?? readPhone(text) ?? text.toLowerCase();
}

/** The kind of a contact in the form of `readContact`. */
export function contactKind(contact: string): ContactKind {
  if (E164.test(contact)) return 'phone';
  return readEmail(contact) === contact ? 'email' : 'other';
}

function readPhone(text: string): string | undefined {
  if (!PHONE.test(text)) return undefined;
  const digits = text.replace('(0)', '').replace(/\D/g, '').replace(/^00/, '');
  return E164.test(`+${digits}`) ? `+${digits}` : undefined;
}
