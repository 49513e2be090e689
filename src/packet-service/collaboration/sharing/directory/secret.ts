/** Lifetime of a mailed secret, in days. */
export const SECRET_DAYS = 7;

/** The expiry of a secret that is created now. */
export function secretEnd(now: Date): Date {
  return new Date(now.getTime() + SECRET_DAYS * 24 * 3600 * 1000);
}
