import type { Purpose } from './store.ts';

/** Which of the two addresses of a change. */
export type Side = 'old' | 'new';

/** Notices about an account. */
type TellingKind = 'password-changed' | 'second-factor-on' | 'second-factor-off';

/** The purposes of mails. */
export const MAIL_KINDS = [
  ...['confirm', 'activated', 'reset', 'password-changed', 'second-factor-on', 'second-factor-off'],
  ...['change-email', 'notice', 'invited', 'invited-address'],
] as FailedJob['kind'][];

/** A mail to a user; `about` is the user of a notice, or the inviting company. */
export type UserMail = { to: number } & (
  | { kind: 'confirm' | 'activated' | 'reset' | TellingKind }
  | { kind: 'change-email'; changeId: string; side: Side }
  | { kind: 'notice'; about: number }
  | { kind: 'invited'; about: number }
);

/** A job: a mail, or a request for one to an address that may not be registered. */
export type UserJob = { id: string } & UserMail;
export interface AskedJob {
  id: string;
  kind: 'asked';
  purpose: Purpose;
  emailKey: string;
  /** for the audit; absent if the request is in it already */
  asker?: Asker;
}
/** The address that somebody asks from, and the user if they are logged in. */
export interface Asker {
  ip: string;
  userId?: number;
}
/** The mail of an invitation of an address to a company, which may be that of an account or not. */
export interface AddressJob {
  id: string;
  kind: 'invited-address';
  invitationId: number;
  emailKey: string;
}
export type MailJob = UserJob | AskedJob | AddressJob;

export type WithoutId<Job> = Job extends { id: string } ? Omit<Job, 'id'> : never;
/** The data that a failed mail is rewritten from. */
export type FailedJob = WithoutId<UserJob | AddressJob>;
