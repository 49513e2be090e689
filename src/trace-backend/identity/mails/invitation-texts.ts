import type { MailLanguage } from '../../base/contract/language.ts';

/** The texts of the mails by which companies invite. */
export const INVITATION: Record<MailLanguage, Invitation> = {
  EN: {
    subject: 'A company invites you',
    by: inviter => `${inviter} invites you.`,
    ask: (company, role, place) =>
      `The company "${company}" on ${place} invites you to act for it as ${role}. To accept or to decline, open this link, or enter the code:`,
    over: 'Link and code work once, for 72 hours; after that, log in to answer. Until you accept, the company learns nothing about your account. If you do not know it, decline or do nothing.',
    register: (company, role, place) =>
      `The company "${company}" on ${place} invites you to act for it as ${role}. To accept, create an account with this e-mail address:`,
    inactive: (company, role, place) =>
      `The company "${company}" on ${place} invites you to act for it as ${role}. Your account is not active yet: an administrator activates it. Then you can log in:`,
    afterwards:
      'Once the account is active, open this link to accept, or enter the code. You can decline by it now:',
    overAddress:
      'Link and code work once, for 30 days. Until you accept, the company does not learn whether you have an account. If you do not know it, decline or do nothing.',
    roles: {
      COMPANY_USER: 'a member',
      COMPANY_ADMIN: 'an administrator',
      MANAGER: 'a manager',
      ACCOUNTANT: 'an accountant',
    },
  },
  DE: {
    subject: 'Ein Unternehmen lädt Sie ein',
    by: inviter => `${inviter} lädt Sie ein.`,
    ask: (company, role, place) =>
      `Das Unternehmen „${company}“ auf ${place} bittet Sie, für es als ${role} zu handeln. Um anzunehmen oder abzulehnen, öffnen Sie diesen Link oder geben Sie den Code ein:`,
    over: 'Link und Code gelten einmal, 72 Stunden lang; danach melden Sie sich an, um zu antworten. Bevor Sie annehmen, erfährt das Unternehmen nichts über Ihr Konto. Wenn Sie es nicht kennen, lehnen Sie ab oder tun Sie nichts.',
    register: (company, role, place) =>
      `Das Unternehmen „${company}“ auf ${place} bittet Sie, für es als ${role} zu handeln. Um anzunehmen, legen Sie ein Konto mit dieser E-Mail-Adresse an:`,
    inactive: (company, role, place) =>
      `Das Unternehmen „${company}“ auf ${place} bittet Sie, für es als ${role} zu handeln. Ihr Konto ist noch nicht freigeschaltet: Das tut eine Verwalterin oder ein Verwalter. Dann können Sie sich anmelden:`,
    afterwards:
      'Sobald das Konto freigeschaltet ist, öffnen Sie diesen Link, um anzunehmen, oder geben Sie den Code ein. Ablehnen können Sie damit sofort:',
    overAddress:
      'Link und Code gelten einmal, 30 Tage lang. Bevor Sie annehmen, erfährt das Unternehmen nicht, ob Sie ein Konto haben. Wenn Sie es nicht kennen, lehnen Sie ab oder tun Sie nichts.',
    roles: {
      COMPANY_USER: 'Mitglied',
      COMPANY_ADMIN: 'Administrator',
      MANAGER: 'Leitung',
      ACCOUNTANT: 'Buchhaltung',
    },
  },
  RW: {
    subject: 'Ikigo kiragutumiye',
    by: inviter => `${inviter} aragutumiye.`,
    ask: (company, role, place) =>
      `Ikigo "${company}" kuri ${place} kiragusaba kugikorera nka ${role}. Kugira ngo wemere cyangwa wange, fungura iyi linki cyangwa wandike kode:`,
    over: 'Linki na kode bikora inshuro imwe, mu masaha 72; nyuma yaho injira muri konti yawe usubize. Utaremera, nta cyo ikigo kimenya kuri konti yawe. Niba utakizi, anga cyangwa ntugire icyo ukora.',
    register: (company, role, place) =>
      `Ikigo "${company}" kuri ${place} kiragusaba kugikorera nka ${role}. Kugira ngo wemere, fungura konti ukoresheje iyi imeyili:`,
    inactive: (company, role, place) =>
      `Ikigo "${company}" kuri ${place} kiragusaba kugikorera nka ${role}. Konti yawe ntiremerwa: umuyobozi ni we uyemera. Hanyuma ushobora kwinjira:`,
    afterwards:
      'Konti nimara kwemerwa, fungura iyi linki wemere, cyangwa wandike kode. Kwanga byo ushobora kubikora ubu:',
    overAddress:
      'Linki na kode bikora inshuro imwe, mu minsi 30. Utaremera, ikigo ntikimenya niba ufite konti. Niba utakizi, anga cyangwa ntugire icyo ukora.',
    roles: {
      COMPANY_USER: 'umunyamuryango',
      COMPANY_ADMIN: 'umuyobozi',
      MANAGER: 'ushinzwe gucunga',
      ACCOUNTANT: 'umucungamari',
    },
  },
  ES: {
    subject: 'Una empresa le invita',
    by: inviter => `${inviter} le invita.`,
    ask: (company, role, place) =>
      `La empresa «${company}» en ${place} le pide que actúe por ella como ${role}. Para aceptar o rechazar, abra este enlace o introduzca el código:`,
    over: 'El enlace y el código sirven una vez, durante 72 horas; después, inicie sesión para responder. Mientras no acepte, la empresa no sabe nada de su cuenta. Si no la conoce, rechace o no haga nada.',
    register: (company, role, place) =>
      `La empresa «${company}» en ${place} le pide que actúe por ella como ${role}. Para aceptar, cree una cuenta con esta dirección de correo:`,
    inactive: (company, role, place) =>
      `La empresa «${company}» en ${place} le pide que actúe por ella como ${role}. Su cuenta aún no está activa: la activa un administrador. Después podrá iniciar sesión:`,
    afterwards:
      'Cuando la cuenta esté activa, abra este enlace para aceptar, o introduzca el código. Con él ya puede rechazar:',
    overAddress:
      'El enlace y el código sirven una vez, durante 30 días. Mientras no acepte, la empresa no sabe si tiene una cuenta. Si no la conoce, rechace o no haga nada.',
    roles: {
      COMPANY_USER: 'miembro',
      COMPANY_ADMIN: 'administrador',
      MANAGER: 'gerente',
      ACCOUNTANT: 'contable',
    },
  },
  FR: {
    subject: 'Une entreprise vous invite',
    by: inviter => `${inviter} vous invite.`,
    ask: (company, role, place) =>
      `L’entreprise « ${company} » sur ${place} vous demande d’agir pour elle comme ${role}. Pour accepter ou refuser, ouvrez ce lien ou saisissez le code :`,
    over: 'Le lien et le code servent une seule fois, pendant 72 heures ; ensuite, connectez-vous pour répondre. Tant que vous n’acceptez pas, l’entreprise n’apprend rien de votre compte. Si vous ne la connaissez pas, refusez ou ne faites rien.',
    register: (company, role, place) =>
      `L’entreprise « ${company} » sur ${place} vous demande d’agir pour elle comme ${role}. Pour accepter, créez un compte avec cette adresse e-mail :`,
    inactive: (company, role, place) =>
      `L’entreprise « ${company} » sur ${place} vous demande d’agir pour elle comme ${role}. Votre compte n’est pas encore actif : un administrateur l’active. Vous pourrez ensuite vous connecter :`,
    afterwards:
      'Dès que le compte sera actif, ouvrez ce lien pour accepter, ou saisissez le code. Vous pouvez déjà refuser par ce moyen :',
    overAddress:
      'Le lien et le code servent une seule fois, pendant 30 jours. Tant que vous n’acceptez pas, l’entreprise ne sait pas si vous avez un compte. Si vous ne la connaissez pas, refusez ou ne faites rien.',
    roles: {
      COMPANY_USER: 'membre',
      COMPANY_ADMIN: 'administrateur',
      MANAGER: 'gérant',
      ACCOUNTANT: 'comptable',
    },
  },
  SW: {
    subject: 'Kampuni inakualika',
    by: inviter => `${inviter} anakualika.`,
    ask: (company, role, place) =>
      `Kampuni "${company}" kwenye ${place} inakuomba uifanyie kazi kama ${role}. Ili kukubali au kukataa, fungua kiungo hiki au andika msimbo:`,
    over: 'Kiungo na msimbo hufanya kazi mara moja, kwa saa 72; baada ya hapo, ingia ili kujibu. Hadi ukubali, kampuni haijui lolote kuhusu akaunti yako. Kama huijui, kataa au usifanye lolote.',
    register: (company, role, place) =>
      `Kampuni "${company}" kwenye ${place} inakuomba uifanyie kazi kama ${role}. Ili kukubali, fungua akaunti kwa anwani hii ya barua pepe:`,
    inactive: (company, role, place) =>
      `Kampuni "${company}" kwenye ${place} inakuomba uifanyie kazi kama ${role}. Akaunti yako bado haijawezeshwa: msimamizi huiwezesha. Kisha unaweza kuingia:`,
    afterwards:
      'Akaunti ikishawezeshwa, fungua kiungo hiki ili kukubali, au andika msimbo. Kwa njia hiyo unaweza kukataa sasa hivi:',
    overAddress:
      'Kiungo na msimbo hufanya kazi mara moja, kwa siku 30. Hadi ukubali, kampuni haijui kama una akaunti. Kama huijui, kataa au usifanye lolote.',
    roles: {
      COMPANY_USER: 'mwanachama',
      COMPANY_ADMIN: 'msimamizi',
      MANAGER: 'meneja',
      ACCOUNTANT: 'mhasibu',
    },
  },
};

/** What somebody can be in a company. */
export type CompanyRole = 'COMPANY_USER' | 'COMPANY_ADMIN' | 'MANAGER' | 'ACCOUNTANT';

interface Invitation {
  subject: string;
  /** who invites, if it is a member */
  by: (inviter: string) => string;
  ask: (company: string, role: string, place: string) => string;
  /** the end, if the account was invited */
  over: string;
  /** to an address that no account has, before the link to the registration */
  register: (company: string, role: string, place: string) => string;
  /** to that of an account that is not active yet, before the link to the login */
  inactive: (company: string, role: string, place: string) => string;
  /** after either, before the link of the invitation */
  afterwards: string;
  /** the end, if the address was invited */
  overAddress: string;
  /** what roles are called in `ask` */
  roles: Record<CompanyRole, string>;
}
