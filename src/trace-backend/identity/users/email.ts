import { Problem } from '../../../platform/http/problems.ts';
import { readEmail } from '../../../platform/mail/email.ts';

/** The default address of the first administrator. It has no mailbox. */
export const NO_MAILBOX = 'admin@fieldtrace.local';

/**
 * An address as entered, and its lookup form.
 *
 * @throws Problem invalid
 */
export function checkEmail(text: string, field: string): { email: string; emailKey: string } {
  const email = text.normalize('NFC').trim();
  const emailKey = readEmail(email);
  if (emailKey?.includes('.', emailKey.indexOf('@'))) return { email, emailKey };
  throw new Problem('validation.no_email', { field });
}

/** The lookup form of an address; that of an invalid address belongs to nobody. */
export function emailKeyOf(text: string): string {
  const email = text.normalize('NFC').trim();
  return readEmail(email) ?? email.toLowerCase();
}
