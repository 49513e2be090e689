import type english from '../../../../messages/en/services/mails.json';
import { composeMail, type MailLine, type MailText } from '../../../platform/mail/mail-text.ts';
import { plainName, shortLine } from '../../../platform/mail/plain-name.ts';
import { readMessages } from '../../../platform/messages/messages.ts';
import type { MailLanguage } from '../../base/contract/language.ts';
import type { Status } from '../users/store.ts';

/** Characters of a name that a mail shows, at most. */
const SHOWN = 80;

/** The texts of a notice. */
type Told = 'password-changed' | 'second-factor-on' | 'second-factor-off';

/** What somebody can be in a company. */
type CompanyRole = 'COMPANY_USER' | 'COMPANY_ADMIN' | 'MANAGER' | 'ACCOUNTANT';

const wordsIn = readMessages<`mails.${keyof typeof english}`>('services/mails.json');

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

/** What an invitation to a company says. */
export interface Inviting {
  company: string;
  role: CompanyRole;
  /** the member who invites; undefined if somebody else did */
  inviter: { id: number; name: string } | undefined;
}

/** The sentence that names who invites. */
function by(language: MailLanguage, inviter: Inviting['inviter']): string[] {
  if (inviter === undefined) return [];
  return [wordsIn(language).t('mails.invitation.by', { inviter: plainName(inviter.name, SHOWN) })];
}

/** The line with the code that a link contains. */
function codeLine(language: MailLanguage, secret: string): string {
  return `${wordsIn(language).t('mails.code')}: ${secret}`;
}

/** Mails that address their reader by name, of an instance. */
function letters(instance: string | undefined) {
  return (reader: Reader, subject: string, lines: readonly MailLine[]): MailText => {
    const { t, language } = wordsIn(reader.language);
    const greeting = t('mails.greeting', { name: plainName(reader.name, SHOWN) });
    return composeMail(subject, [greeting, ...lines], { language, instance });
  };
}

/** Characters of the name of an instance within a sentence, at most. */
const INSTANCE_SHOWN = 60;

/** Where something happens, in a sentence: the name of the instance, if it has one, and its host. */
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

/**
 * The mails, in the reader's language. Names of users and companies appear only in the text, on one line and
 * truncated, so that nobody can use one to write a message or another header.
 *
 * @param addresses what links begin with
 * @param instance the name of the instance, if it has one
 */
export function mailTexts(addresses: MailAddresses, instance?: string) {
  const pages = pagesOf(addresses);
  const letter = letters(instance);
  return {
    /** Asks to confirm an address; after the first time on our own page, which asks for the password too. */
    confirm(reader: Reader & { status: Status }, secret: string): MailText {
      const { t } = wordsIn(reader.language);
      const url = `${reader.status === 'UNCONFIRMED' ? pages.confirm : pages.confirmOwn}/${secret}`;
      const end = reader.status === 'ACTIVE' ? t('mails.confirm.active') : t('mails.confirm.over');
      const lines = [t('mails.confirm.ask'), { url }, codeLine(reader.language, secret), end];
      return letter(reader, t('mails.confirm.subject'), lines);
    },
    reset(reader: Reader, secret: string): MailText {
      const { t } = wordsIn(reader.language);
      return letter(reader, t('mails.reset.subject'), [
        t('mails.reset.ask'),
        { url: `${pages.reset}/${secret}` },
        codeLine(reader.language, secret),
        t('mails.reset.over'),
      ]);
    },
    activated(reader: Reader): MailText {
      const { t } = wordsIn(reader.language);
      return letter(reader, t('mails.activated.subject'), [t('mails.activated.say'), { url: pages.start }]);
    },
    /**
     * Asks the current or the new address to confirm a change.
     *
     * @param isAlone whether the other one need not confirm it
     */
    changeEmail(
      reader: Reader,
      { side, address, isAlone }: { side: 'old' | 'new'; address: string; isAlone: boolean },
      secret: string,
    ): MailText {
      const { t } = wordsIn(reader.language);
      const ask =
        side === 'old'
          ? t('mails.change.old', { address: plainName(address, SHOWN) })
          : t('mails.change.new');
      const answer = [{ url: `${pages.change}/${secret}` }, codeLine(reader.language, secret)];
      const both = isAlone ? [] : [t('mails.change.both')];
      return letter(reader, t('mails.change.subject'), [ask, ...answer, ...both, t('mails.change.over')]);
    },
    /** A notice about an account. */
    told(reader: Reader, what: Told): MailText {
      const { t } = wordsIn(reader.language);
      return letter(reader, t(`mails.told.${what}.subject`), [t(`mails.told.${what}.say`)]);
    },
    notice(reader: Reader, user: { id: number; name: string; surname: string; email: string }): MailText {
      const { t } = wordsIn(reader.language);
      const who = `${plainName(`${user.name} ${user.surname}`, SHOWN)} (${user.email})`;
      const said = t('mails.notice.say', { user: who });
      return letter(reader, t('mails.notice.subject'), [said, { url: pages.userOf(user) }]);
    },
    ...invitationTexts(pages, instance),
  };
}

/** The mails by which companies invite. */
function invitationTexts(pages: ReturnType<typeof pagesOf>, instance: string | undefined) {
  const place = placeOf(pages.start, instance);
  const letter = letters(instance);
  const asked = ({ company, role }: Inviting, language: MailLanguage) => ({
    company: plainName(company, SHOWN),
    role: wordsIn(language).t(`mails.invitation.role.${role}`),
    place,
  });
  return {
    /**
     * Invites an active user.
     *
     * @param isAddress whether the company invited the address rather than the account
     */
    invited(
      reader: Reader,
      invitation: Inviting & { secret: string },
      { isAddress }: { isAddress: boolean },
    ): MailText {
      const { t } = wordsIn(reader.language);
      const { inviter, secret } = invitation;
      return letter(reader, t('mails.invitation.subject'), [
        ...by(reader.language, inviter),
        t('mails.invitation.ask', asked(invitation, reader.language)),
        { url: `${pages.invitation}/${secret}` },
        codeLine(reader.language, secret),
        isAddress ? t('mails.invitation.overAddress') : t('mails.invitation.over'),
      ]);
    },
    /** Invites an address that no active account has. */
    invitedAddress(
      language: MailLanguage,
      invitation: Inviting & { email: string; hasAccount: boolean; secret: string },
    ): MailText {
      const { inviter, email, hasAccount, secret } = invitation;
      const { t, language: tag } = wordsIn(language);
      const values = asked(invitation, language);
      const way = hasAccount
        ? [t('mails.invitation.inactive', values), { url: pages.start }]
        : [t('mails.invitation.register', values), { url: pages.registerOf(email) }];
      const lines = [
        ...by(language, inviter),
        ...way,
        t('mails.invitation.afterwards'),
        { url: `${pages.invitation}/${secret}` },
        codeLine(language, secret),
        t('mails.invitation.overAddress'),
      ];
      return composeMail(t('mails.invitation.subject'), lines, { language: tag, instance });
    },
  };
}
