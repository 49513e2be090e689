/** How long a secret out of a mail is good for, in days. */
export const SECRET_DAYS = 7;

/** When a secret made now ends. */
export function secretEnd(now: Date): Date {
  return new Date(now.getTime() + SECRET_DAYS * 24 * 3600 * 1000);
}
