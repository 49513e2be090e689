import type english from '../../../../messages/en/services/mails.json';
import { type MailLine, type MailText, mailWriter } from '../../../platform/mail/mail-text.ts';
import { plainName, shortLine } from '../../../platform/mail/plain-name.ts';
import { readMessages, type Words } from '../../../platform/messages/messages.ts';
import type { MailLanguage } from '../../base/contract/language.ts';
import type { Status } from '../users/store.ts';

/** Maximum characters of a name that a mail shows. */
const SHOWN = 80;
/** Maximum characters of the name of an instance within a sentence. */
const INSTANCE_SHOWN = 60;

/** The texts of a notice. */
type Told = 'password-changed' | 'second-factor-on' | 'second-factor-off';

/** The names of roles in a company. */
type CompanyRole = 'COMPANY_USER' | 'COMPANY_ADMIN' | 'MANAGER' | 'ACCOUNTANT';

type Key = `mails.${keyof typeof english}`;
type T = Words<Key>['t'];
const wordsIn = readMessages<Key>('services/mails.json');

/** The reader of a mail. */
export interface Reader {
  name: string;
  language: MailLanguage;
}

/** Base URLs of links, without a trailing slash. */
export interface MailAddresses {
  /** of the trace backend */
  publicUrl: string;
  /** of the console, if links lead to it */
  consoleUrl?: string | undefined;
  /** of another web front end, if there is one: it has pages for what every user does, and counts instead of the console */
  frontEndUrl?: string | undefined;
}

/** The values of an invitation to a company. */
export interface Inviting {
  company: string;
  role: CompanyRole;
  /** the member who invites; undefined if somebody else did */
  inviter: { id: number; name: string } | undefined;
}

/** The place, for a sentence: the name of the instance, if it has one, and its host. */
function placeOf(start: string, instance = ''): string {
  const { host } = new URL(start);
  const name = shortLine(instance, INSTANCE_SHOWN);
  return name === '' ? host : `${name} (${host})`;
}

/** The pages that links lead to; codes are added to most of them. */
export function pagesOf({ publicUrl, consoleUrl, frontEndUrl }: MailAddresses) {
  const own = {
    start: `${publicUrl}/`,
    registerOf: (_email: string) => `${publicUrl}/`,
    confirm: `${publicUrl}/api/user/confirm_email`,
    confirmOwn: `${publicUrl}/api/user/confirm_email`,
    reset: `${publicUrl}/api/user/reset_password`,
    change: `${publicUrl}/api/user/email_change/confirm`,
    invitation: `${publicUrl}/api/company/invitation`,
    userOf: ({ id }: { id: number; email: string }) => `${publicUrl}/api/user/admin/profile/${id}`,
  };
  const site = frontEndUrl ?? consoleUrl;
  if (site === undefined) return own;
  const both = {
    start: `${site}/`,
    registerOf: () => `${site}/`,
    confirm: `${site}/confirm-email`,
    reset: `${site}/reset-password`,
  };
  if (frontEndUrl !== undefined) return { ...own, ...both };
  return {
    ...both,
    confirmOwn: both.confirm,
    // Browsers do not send the fragment: the address comes into no log.
    registerOf: (email: string) => `${site}/register#${new URLSearchParams({ email })}`,
    change: `${site}/email-change`,
    invitation: `${site}/company-invitation`,
    userOf: ({ email }: { id: number; email: string }) =>
      `${site}/administration/users?${new URLSearchParams({ query: email })}`,
  };
}

/** A link that ends in a code, and the line with the code alone. */
const byCode = (t: T, page: string, secret: string): MailLine[] => [
  { url: `${page}/${secret}` },
  `${t('mails.code')}: ${secret}`,
];

/**
 * The mails, in the reader's language. Names of users and companies appear only in the text, on one line and
 * truncated, so that nobody can use one to write a message or another header.
 *
 * @param addresses what links begin with
 * @param instance the name of the instance, if it has one
 */
export function mailTexts(addresses: MailAddresses, instance?: string) {
  const pages = pagesOf(addresses);
  const write = mailWriter(wordsIn, instance);
  const letter = (
    { name, language }: Reader,
    subject: Key,
    linesOf: (t: T) => readonly MailLine[],
  ): MailText =>
    write(language, subject, t => [t('mails.greeting', { name: plainName(name, SHOWN) }), ...linesOf(t)]);
  /** The first sentence of an invitation. */
  const asked = (t: T, key: 'ask' | 'register' | 'inactive', { company, role, inviter }: Inviting) => {
    const by = inviter ? [t('mails.invitation.by', { inviter: plainName(inviter.name, SHOWN) })] : [];
    const about = { company: plainName(company, SHOWN), place: placeOf(pages.start, instance) };
    return [...by, t(`mails.invitation.${key}`, { ...about, role: t(`mails.invitation.role.${role}`) })];
  };
  return {
    /** Asks to confirm an address; after the first time on our own page, which asks for the password too. */
    confirm: (reader: Reader & { status: Status }, secret: string) =>
      letter(reader, 'mails.confirm.subject', t => [
        t('mails.confirm.ask'),
        ...byCode(t, reader.status === 'UNCONFIRMED' ? pages.confirm : pages.confirmOwn, secret),
        reader.status === 'ACTIVE' ? t('mails.confirm.active') : t('mails.confirm.over'),
      ]),
    reset: (reader: Reader, secret: string) =>
      letter(reader, 'mails.reset.subject', t => [
        t('mails.reset.ask'),
        ...byCode(t, pages.reset, secret),
        t('mails.reset.over'),
      ]),
    activated: (reader: Reader) =>
      letter(reader, 'mails.activated.subject', t => [t('mails.activated.say'), { url: pages.start }]),
    /**
     * Asks the current or the new address to confirm a change.
     *
     * @param isAlone whether the other one need not confirm it
     */
    changeEmail: (
      reader: Reader,
      { side, address, isAlone }: { side: 'old' | 'new'; address: string; isAlone: boolean },
      secret: string,
    ) =>
      letter(reader, 'mails.change.subject', t => [
        side === 'old'
          ? t('mails.change.old', { address: plainName(address, SHOWN) })
          : t('mails.change.new'),
        ...byCode(t, pages.change, secret),
        ...(isAlone ? [] : [t('mails.change.both')]),
        t('mails.change.over'),
      ]),
    /** A notice about an account. */
    told: (reader: Reader, what: Told) =>
      letter(reader, `mails.told.${what}.subject`, t => [t(`mails.told.${what}.say`)]),
    notice: (reader: Reader, user: { id: number; name: string; surname: string; email: string }) =>
      letter(reader, 'mails.notice.subject', t => [
        t('mails.notice.say', {
          user: `${plainName(`${user.name} ${user.surname}`, SHOWN)} (${user.email})`,
        }),
        { url: pages.userOf(user) },
      ]),
    /**
     * Invites an active user.
     *
     * @param isAddress whether the company invited the address rather than the account
     */
    invited: (
      reader: Reader,
      invitation: Inviting & { secret: string },
      { isAddress }: { isAddress: boolean },
    ) =>
      letter(reader, 'mails.invitation.subject', t => [
        ...asked(t, 'ask', invitation),
        ...byCode(t, pages.invitation, invitation.secret),
        isAddress ? t('mails.invitation.overAddress') : t('mails.invitation.over'),
      ]),
    /** Invites an address that no active account has. */
    invitedAddress: (
      language: MailLanguage,
      invitation: Inviting & { email: string; hasAccount: boolean; secret: string },
    ) =>
      write(language, 'mails.invitation.subject', t => [
        ...asked(t, invitation.hasAccount ? 'inactive' : 'register', invitation),
        { url: invitation.hasAccount ? pages.start : pages.registerOf(invitation.email) },
        t('mails.invitation.afterwards'),
        ...byCode(t, pages.invitation, invitation.secret),
        t('mails.invitation.overAddress'),
      ]),
  };
}
