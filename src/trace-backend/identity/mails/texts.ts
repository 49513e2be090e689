import { composeMail, type MailLine, type MailText } from '../../../platform/mail/mail-text.ts';
import { plainName, shortLine } from '../../../platform/mail/plain-name.ts';
import type { MailLanguage } from '../../base/contract/language.ts';
import type { Status } from '../users/store.ts';
import { type CompanyRole, INVITATION } from './invitation-texts.ts';

/** Characters of a name that a mail shows, at most. */
const SHOWN = 80;

/** The texts of a notice. */
type Told = 'password-changed' | 'second-factor-on' | 'second-factor-off';

interface Words {
  greeting: (name: string) => string;
  /** the label before a code */
  code: string;
  /** `active` ends the mail to an account that is active already */
  confirm: { subject: string; ask: string; over: string; active: string };
  activated: { subject: string; say: string };
  reset: { subject: string; ask: string; over: string };
  change: { subject: string; old: (address: string) => string; new: string; both: string; over: string };
  told: Record<Told, { subject: string; say: string }>;
}

const WORDS: Record<MailLanguage, Words> = {
  EN: {
    greeting: name => `Dear ${name},`,
    code: 'Code',
    confirm: {
      subject: 'Confirm your e-mail address',
      ask: 'An account was opened with this e-mail address. To confirm that it is yours, open this link, or enter the code:',
      over: 'Link and code work once, for 72 hours. You also need the password of the account. An administrator then activates it. If you did not open the account, do nothing.',
      active:
        'Link and code work once, for 72 hours. You also need the password of the account. If you do not know it, request a new password: that also confirms the address, and anyone who had the account before loses it.',
    },
    activated: { subject: 'Your account is active', say: 'Your account was activated. You can log in now:' },
    reset: {
      subject: 'Set a new password',
      ask: 'Somebody, probably you, requested a new password for your account. To set one, open this link, or enter the code:',
      over: 'Link and code work once, for one hour. If that was not you, do nothing: your password stays as it is.',
    },
    change: {
      subject: 'Confirm the change of your e-mail address',
      old: address =>
        `The e-mail address of your account is to become ${address}. If you want that, open this link, or enter the code:`,
      new: 'This is to become the e-mail address of an account. If you want that, open this link, or enter the code:',
      both: 'The other address must confirm it, too.',
      over: 'Link and code work once, for 72 hours. If that was not you, do nothing: the address stays as it is.',
    },
    told: {
      'password-changed': {
        subject: 'Your password was changed',
        say: 'The password of your account was changed, and every other session was ended. If that was not you, request a new password at once and tell an administrator.',
      },
      'second-factor-on': {
        subject: 'A second factor was set up',
        say: 'Logins to your account now need a code from your authenticator app. Your other sessions and all keys for programs have ended. If you did not set that up, change your password at once and tell an administrator.',
      },
      'second-factor-off': {
        subject: 'Your second factor was removed',
        say: 'Logins to your account do not need a code anymore. If you did not remove the second factor, change your password at once and tell an administrator.',
      },
    },
  },
  DE: {
    greeting: name => `Guten Tag ${name},`,
    code: 'Code',
    confirm: {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse',
      ask: 'Mit dieser E-Mail-Adresse wurde ein Konto eröffnet. Um zu bestätigen, dass sie Ihnen gehört, öffnen Sie diesen Link oder geben Sie den Code ein:',
      over: 'Link und Code gelten einmal, 72 Stunden lang. Sie brauchen auch das Passwort des Kontos. Danach schaltet eine Verwalterin oder ein Verwalter das Konto frei. Wenn Sie es nicht eröffnet haben, tun Sie nichts.',
      active:
        'Link und Code gelten einmal, 72 Stunden lang. Sie brauchen auch das Passwort des Kontos. Wenn Sie es nicht kennen, verlangen Sie ein neues Passwort: Auch das bestätigt die Adresse, und wer das Konto vorher hatte, verliert es.',
    },
    activated: {
      subject: 'Ihr Konto ist freigeschaltet',
      say: 'Ihr Konto wurde freigeschaltet. Sie können sich jetzt anmelden:',
    },
    reset: {
      subject: 'Neues Passwort setzen',
      ask: 'Jemand, vermutlich Sie, hat ein neues Passwort für Ihr Konto verlangt. Um eines zu setzen, öffnen Sie diesen Link oder geben Sie den Code ein:',
      over: 'Link und Code gelten einmal, eine Stunde lang. Wenn Sie das nicht waren, tun Sie nichts: Ihr Passwort bleibt, wie es ist.',
    },
    change: {
      subject: 'Bestätigen Sie die Änderung Ihrer E-Mail-Adresse',
      old: address =>
        `Die E-Mail-Adresse Ihres Kontos soll ${address} werden. Wenn Sie das wollen, öffnen Sie diesen Link oder geben Sie den Code ein:`,
      new: 'Dies soll die E-Mail-Adresse eines Kontos werden. Wenn Sie das wollen, öffnen Sie diesen Link oder geben Sie den Code ein:',
      both: 'Auch die andere Adresse muss zustimmen.',
      over: 'Link und Code gelten einmal, 72 Stunden lang. Wenn Sie das nicht waren, tun Sie nichts: Die Adresse bleibt, wie sie ist.',
    },
    told: {
      'password-changed': {
        subject: 'Ihr Passwort wurde geändert',
        say: 'Das Passwort Ihres Kontos wurde geändert, und alle anderen Sitzungen wurden beendet. Wenn Sie das nicht waren, verlangen Sie sofort ein neues Passwort und sagen Sie der Verwaltung Bescheid.',
      },
      'second-factor-on': {
        subject: 'Ein zweiter Faktor wurde eingerichtet',
        say: 'Anmeldungen an Ihrem Konto brauchen ab jetzt einen Code Ihrer Authentifizierungs-App. Ihre anderen Sitzungen und alle Schlüssel für Programme sind beendet. Wenn Sie das nicht eingerichtet haben, ändern Sie sofort Ihr Passwort und sagen Sie der Verwaltung Bescheid.',
      },
      'second-factor-off': {
        subject: 'Ihr zweiter Faktor wurde entfernt',
        say: 'Anmeldungen an Ihrem Konto brauchen keinen Code mehr. Wenn Sie den zweiten Faktor nicht entfernt haben, ändern Sie sofort Ihr Passwort und sagen Sie der Verwaltung Bescheid.',
      },
    },
  },
  RW: {
    greeting: name => `Muraho ${name},`,
    code: 'Kode',
    confirm: {
      subject: 'Emeza imeyili yawe',
      ask: 'Konti yafunguwe hakoreshejwe iyi imeyili. Kugira ngo wemeze ko ari iyawe, fungura iyi linki cyangwa wandike kode:',
      over: 'Linki na kode bikora inshuro imwe, mu masaha 72. Ukeneye n’ijambobanga rya konti. Nyuma umuyobozi ni we wemera konti. Niba atari wowe wayifunguye, ntugire icyo ukora.',
      active:
        'Linki na kode bikora inshuro imwe, mu masaha 72. Ukeneye n’ijambobanga rya konti. Niba utarizi, saba ijambobanga rishya: na ryo ryemeza imeyili, kandi uwari ufite konti mbere arayitakaza.',
    },
    activated: { subject: 'Konti yawe yemewe', say: 'Konti yawe yemewe. Ubu ushobora kwinjira:' },
    reset: {
      subject: 'Shyiraho ijambobanga rishya',
      ask: 'Hari uwasabye ijambobanga rishya rya konti yawe, birashoboka ko ari wowe. Kugira ngo urishyireho, fungura iyi linki cyangwa wandike kode:',
      over: 'Linki na kode bikora inshuro imwe, mu isaha imwe. Niba atari wowe, ntugire icyo ukora: ijambobanga ryawe ntirihinduka.',
    },
    change: {
      subject: 'Emeza ihinduka ry’imeyili yawe',
      old: address =>
        `Imeyili ya konti yawe igiye kuba ${address}. Niba ubishaka, fungura iyi linki cyangwa wandike kode:`,
      new: 'Iyi igiye kuba imeyili ya konti. Niba ubishaka, fungura iyi linki cyangwa wandike kode:',
      both: 'Indi meyili na yo igomba kubyemeza.',
      over: 'Linki na kode bikora inshuro imwe, mu masaha 72. Niba atari wowe, ntugire icyo ukora: imeyili ntihinduka.',
    },
    told: {
      'password-changed': {
        subject: 'Ijambobanga ryawe ryahinduwe',
        say: 'Ijambobanga rya konti yawe ryahinduwe kandi ahandi hose konti yari ifunguye hafunzwe. Niba atari wowe, saba ijambobanga rishya ako kanya kandi ubimenyeshe umuyobozi.',
      },
      'second-factor-on': {
        subject: 'Uburyo bwa kabiri bwo kwinjira bwashyizweho',
        say: 'Guhera ubu, kwinjira muri konti yawe bisaba kode ya porogaramu yawe. Ahandi winjiye n’imfunguzo zose za porogaramu byarangiye. Niba atari wowe wabishyizeho, hindura ijambobanga ako kanya kandi ubimenyeshe umuyobozi.',
      },
      'second-factor-off': {
        subject: 'Uburyo bwa kabiri bwo kwinjira bwakuweho',
        say: 'Kwinjira muri konti yawe ntibigisaba kode. Niba atari wowe wabikuyeho, hindura ijambobanga ako kanya kandi ubimenyeshe umuyobozi.',
      },
    },
  },
  ES: {
    greeting: name => `Hola, ${name}:`,
    code: 'Código',
    confirm: {
      subject: 'Confirme su dirección de correo',
      ask: 'Se abrió una cuenta con esta dirección de correo. Para confirmar que es suya, abra este enlace o introduzca el código:',
      over: 'El enlace y el código sirven una vez, durante 72 horas. También necesita la contraseña de la cuenta. Después, un administrador activa la cuenta. Si usted no la abrió, no haga nada.',
      active:
        'El enlace y el código sirven una vez, durante 72 horas. También necesita la contraseña de la cuenta. Si no la conoce, pida una contraseña nueva: eso también confirma la dirección, y quien tenía la cuenta antes la pierde.',
    },
    activated: { subject: 'Su cuenta está activa', say: 'Su cuenta fue activada. Ya puede iniciar sesión:' },
    reset: {
      subject: 'Establezca una contraseña nueva',
      ask: 'Alguien, probablemente usted, pidió una contraseña nueva para su cuenta. Para establecerla, abra este enlace o introduzca el código:',
      over: 'El enlace y el código sirven una vez, durante una hora. Si no fue usted, no haga nada: su contraseña no cambia.',
    },
    change: {
      subject: 'Confirme el cambio de su dirección de correo',
      old: address =>
        `La dirección de correo de su cuenta será ${address}. Si lo desea, abra este enlace o introduzca el código:`,
      new: 'Esta será la dirección de correo de una cuenta. Si lo desea, abra este enlace o introduzca el código:',
      both: 'La otra dirección también debe confirmarlo.',
      over: 'El enlace y el código sirven una vez, durante 72 horas. Si no fue usted, no haga nada: la dirección no cambia.',
    },
    told: {
      'password-changed': {
        subject: 'Su contraseña fue cambiada',
        say: 'La contraseña de su cuenta fue cambiada y se cerraron todas las demás sesiones. Si no fue usted, pida una contraseña nueva enseguida y avise a un administrador.',
      },
      'second-factor-on': {
        subject: 'Se configuró un segundo factor',
        say: 'Desde ahora, para entrar en su cuenta hace falta un código de su aplicación de autenticación. Sus demás sesiones y todas las claves para programas han terminado. Si no lo configuró usted, cambie su contraseña enseguida y avise a un administrador.',
      },
      'second-factor-off': {
        subject: 'Se quitó su segundo factor',
        say: 'Para entrar en su cuenta ya no hace falta un código. Si no quitó usted el segundo factor, cambie su contraseña enseguida y avise a un administrador.',
      },
    },
  },
  FR: {
    greeting: name => `Bonjour ${name},`,
    code: 'Code',
    confirm: {
      subject: 'Confirmez votre adresse e-mail',
      ask: 'Un compte a été ouvert avec cette adresse e-mail. Pour confirmer qu’elle est la vôtre, ouvrez ce lien ou saisissez le code :',
      over: 'Le lien et le code servent une seule fois, pendant 72 heures. Il vous faut aussi le mot de passe du compte. Ensuite, un administrateur active le compte. Si vous ne l’avez pas ouvert, ne faites rien.',
      active:
        'Le lien et le code servent une seule fois, pendant 72 heures. Il vous faut aussi le mot de passe du compte. Si vous ne le connaissez pas, demandez un nouveau mot de passe : cela confirme aussi l’adresse, et qui avait le compte auparavant le perd.',
    },
    activated: {
      subject: 'Votre compte est actif',
      say: 'Votre compte a été activé. Vous pouvez maintenant vous connecter :',
    },
    reset: {
      subject: 'Choisissez un nouveau mot de passe',
      ask: 'Quelqu’un, sans doute vous, a demandé un nouveau mot de passe pour votre compte. Pour en choisir un, ouvrez ce lien ou saisissez le code :',
      over: 'Le lien et le code servent une seule fois, pendant une heure. Si ce n’était pas vous, ne faites rien : votre mot de passe ne change pas.',
    },
    change: {
      subject: 'Confirmez le changement de votre adresse e-mail',
      old: address =>
        `L’adresse e-mail de votre compte va devenir ${address}. Si vous le voulez, ouvrez ce lien ou saisissez le code :`,
      new: 'Cette adresse va devenir l’adresse e-mail d’un compte. Si vous le voulez, ouvrez ce lien ou saisissez le code :',
      both: 'L’autre adresse doit aussi le confirmer.',
      over: 'Le lien et le code servent une seule fois, pendant 72 heures. Si ce n’était pas vous, ne faites rien : l’adresse ne change pas.',
    },
    told: {
      'password-changed': {
        subject: 'Votre mot de passe a été modifié',
        say: 'Le mot de passe de votre compte a été modifié, et toutes les autres sessions ont été fermées. Si ce n’était pas vous, demandez tout de suite un nouveau mot de passe et prévenez un administrateur.',
      },
      'second-factor-on': {
        subject: 'Un second facteur a été configuré',
        say: 'Pour se connecter à votre compte, il faut désormais un code de votre application d’authentification. Vos autres sessions et toutes les clés pour programmes ont pris fin. Si vous ne l’avez pas configuré, changez tout de suite votre mot de passe et prévenez un administrateur.',
      },
      'second-factor-off': {
        subject: 'Votre second facteur a été retiré',
        say: 'Pour se connecter à votre compte, il ne faut plus de code. Si vous n’avez pas retiré le second facteur, changez tout de suite votre mot de passe et prévenez un administrateur.',
      },
    },
  },
  SW: {
    greeting: name => `Habari ${name},`,
    code: 'Msimbo',
    confirm: {
      subject: 'Thibitisha anwani yako ya barua pepe',
      ask: 'Akaunti imefunguliwa kwa anwani hii ya barua pepe. Ili kuthibitisha kuwa ni yako, fungua kiungo hiki au andika msimbo:',
      over: 'Kiungo na msimbo hufanya kazi mara moja, kwa saa 72. Unahitaji pia nenosiri la akaunti. Kisha msimamizi huiwezesha akaunti. Kama si wewe uliyeifungua, usifanye lolote.',
      active:
        'Kiungo na msimbo hufanya kazi mara moja, kwa saa 72. Unahitaji pia nenosiri la akaunti. Kama hulijui, omba nenosiri jipya: hilo pia huthibitisha anwani, na aliyekuwa na akaunti hapo awali huipoteza.',
    },
    activated: {
      subject: 'Akaunti yako imewezeshwa',
      say: 'Akaunti yako imewezeshwa. Sasa unaweza kuingia:',
    },
    reset: {
      subject: 'Weka nenosiri jipya',
      ask: 'Mtu fulani, huenda ni wewe, ameomba nenosiri jipya la akaunti yako. Ili kuliweka, fungua kiungo hiki au andika msimbo:',
      over: 'Kiungo na msimbo hufanya kazi mara moja, kwa saa moja. Kama si wewe, usifanye lolote: nenosiri lako halibadiliki.',
    },
    change: {
      subject: 'Thibitisha mabadiliko ya anwani yako ya barua pepe',
      old: address =>
        `Anwani ya barua pepe ya akaunti yako itakuwa ${address}. Ukitaka hivyo, fungua kiungo hiki au andika msimbo:`,
      new: 'Hii itakuwa anwani ya barua pepe ya akaunti. Ukitaka hivyo, fungua kiungo hiki au andika msimbo:',
      both: 'Anwani ile nyingine pia lazima ithibitishe.',
      over: 'Kiungo na msimbo hufanya kazi mara moja, kwa saa 72. Kama si wewe, usifanye lolote: anwani haibadiliki.',
    },
    told: {
      'password-changed': {
        subject: 'Nenosiri lako limebadilishwa',
        say: 'Nenosiri la akaunti yako limebadilishwa, na vipindi vingine vyote vimefungwa. Kama si wewe, omba nenosiri jipya mara moja na umjulishe msimamizi.',
      },
      'second-factor-on': {
        subject: 'Uthibitisho wa pili umewekwa',
        say: 'Kuanzia sasa, kuingia kwenye akaunti yako kunahitaji msimbo wa programu yako ya uthibitishaji. Vipindi vyako vingine na funguo zote za programu vimeisha. Kama si wewe uliyeuweka, badilisha nenosiri lako mara moja na umjulishe msimamizi.',
      },
      'second-factor-off': {
        subject: 'Uthibitisho wako wa pili umeondolewa',
        say: 'Kuingia kwenye akaunti yako hakuhitaji tena msimbo. Kama si wewe uliyeuondoa, badilisha nenosiri lako mara moja na umjulishe msimamizi.',
      },
    },
  },
};

const NOTICE: Record<MailLanguage, { subject: string; say: (user: string) => string }> = {
  EN: {
    subject: 'A user is waiting for activation',
    say: user =>
      `${user} has confirmed the e-mail address and is waiting for an administrator to activate the account:`,
  },
  DE: {
    subject: 'Ein Konto wartet auf Freischaltung',
    say: user =>
      `${user} hat die E-Mail-Adresse bestätigt und wartet darauf, dass das Konto freigeschaltet wird:`,
  },
  RW: {
    subject: 'Hari ukoresha utegereje kwemererwa',
    say: user => `${user} yemeje imeyili ye kandi ategereje ko umuyobozi yemera konti:`,
  },
  ES: {
    subject: 'Un usuario espera ser activado',
    say: user =>
      `${user} ha confirmado su dirección de correo y espera que un administrador active la cuenta:`,
  },
  FR: {
    subject: 'Un utilisateur attend son activation',
    say: user => `${user} a confirmé son adresse e-mail et attend qu’un administrateur active le compte :`,
  },
  SW: {
    subject: 'Mtumiaji anasubiri kuwezeshwa',
    say: user => `${user} amethibitisha anwani yake ya barua pepe na anasubiri msimamizi aiwezeshe akaunti:`,
  },
};

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
  return inviter === undefined ? [] : [INVITATION[language].by(plainName(inviter.name, SHOWN))];
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
  const place = placeOf(pages.start, instance);
  const letter = ({ name, language }: Reader, subject: string, lines: readonly MailLine[]): MailText =>
    composeMail(subject, [WORDS[language].greeting(plainName(name, SHOWN)), ...lines], {
      language: language.toLowerCase(),
      instance,
    });
  const codeLine = ({ language }: Pick<Reader, 'language'>, secret: string) =>
    `${WORDS[language].code}: ${secret}`;
  return {
    /** Asks to confirm an address; after the first time on our own page, which asks for the password too. */
    confirm(reader: Reader & { status: Status }, secret: string): MailText {
      const { subject, ask, over, active } = WORDS[reader.language].confirm;
      const url = `${reader.status === 'UNCONFIRMED' ? pages.confirm : pages.confirmOwn}/${secret}`;
      const end = reader.status === 'ACTIVE' ? active : over;
      return letter(reader, subject, [ask, { url }, codeLine(reader, secret), end]);
    },
    reset(reader: Reader, secret: string): MailText {
      const { subject, ask, over } = WORDS[reader.language].reset;
      return letter(reader, subject, [
        ask,
        { url: `${pages.reset}/${secret}` },
        codeLine(reader, secret),
        over,
      ]);
    },
    activated(reader: Reader): MailText {
      const { subject, say } = WORDS[reader.language].activated;
      return letter(reader, subject, [say, { url: pages.start }]);
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
      const { subject, old, new: asked, both, over } = WORDS[reader.language].change;
      const ask = side === 'old' ? old(plainName(address, SHOWN)) : asked;
      const answer = [{ url: `${pages.change}/${secret}` }, codeLine(reader, secret)];
      return letter(reader, subject, [ask, ...answer, ...(isAlone ? [] : [both]), over]);
    },
    /** A notice about an account. */
    told(reader: Reader, what: Told): MailText {
      const { subject, say } = WORDS[reader.language].told[what];
      return letter(reader, subject, [say]);
    },
    /**
     * Invites an active user.
     *
     * @param isAddress whether the company invited the address rather than the account
     */
    invited(
      reader: Reader,
      { company, role, inviter, secret }: Inviting & { secret: string },
      { isAddress }: { isAddress: boolean },
    ): MailText {
      const { subject, ask, over, overAddress, roles } = INVITATION[reader.language];
      const asked = ask(plainName(company, SHOWN), roles[role], place);
      const answer = [{ url: `${pages.invitation}/${secret}` }, codeLine(reader, secret)];
      const end = isAddress ? overAddress : over;
      return letter(reader, subject, [...by(reader.language, inviter), asked, ...answer, end]);
    },
    /** Invites an address that no active account has. */
    invitedAddress(
      language: MailLanguage,
      invitation: Inviting & { email: string; hasAccount: boolean; secret: string },
    ): MailText {
      const { company, role, inviter, email, hasAccount, secret } = invitation;
      const { subject, register, inactive, afterwards, overAddress, roles } = INVITATION[language];
      const asked: Parameters<typeof register> = [plainName(company, SHOWN), roles[role], place];
      const way = hasAccount
        ? [inactive(...asked), { url: pages.start }]
        : [register(...asked), { url: pages.registerOf(email) }];
      const answer = [afterwards, { url: `${pages.invitation}/${secret}` }, codeLine({ language }, secret)];
      const lines = [...by(language, inviter), ...way, ...answer, overAddress];
      return composeMail(subject, lines, { language: language.toLowerCase(), instance });
    },
    notice(reader: Reader, user: { id: number; name: string; surname: string; email: string }): MailText {
      const { subject, say } = NOTICE[reader.language];
      const who = `${plainName(`${user.name} ${user.surname}`, SHOWN)} (${user.email})`;
      return letter(reader, subject, [say(who), { url: pages.userOf(user) }]);
    },
  };
}
