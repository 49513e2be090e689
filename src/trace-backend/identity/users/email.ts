import { Problem } from '../../../platform/http/problems.ts';
import { readEmail } from '../../../platform/mail/email.ts';

/** The address of a first administrator for whom nobody has chosen one. It has no mailbox. */
export const NO_MAILBOX = 'admin@fieldtrace.local';

/**
 * An address as entered, and in the form by which it is looked up.
 *
 * @throws Problem invalid
 */
export function checkEmail(text: string, field: string): { email: string; emailKey: string } {
  const email = text.normalize('NFC').trim();
  const emailKey = readEmail(email);
  if (emailKey?.includes('.', emailKey.indexOf('@'))) return { email, emailKey };
  throw new Problem('validation.no_email', { field });
}

/** The form by which an address is looked up; for an invalid address, one that nobody has. */
export function emailKeyOf(text: string): string {
  const email = text.normalize('NFC').trim();
  return readEmail(email) ?? email.toLowerCase();
}
