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
      `The company "${company}" on ${place} invites you to act for it as ${role}. To accept or to decline, create an account with this e-mail address:`,
    waits:
      'An administrator activates the account. Then log in: the invitation is under Inbox, for 30 days from now. Until you accept, the company does not learn whether you have an account. If you do not know it, do nothing.',
    inactive: (company, role, place) =>
      `The company "${company}" on ${place} invites you to act for it as ${role}. Your account is not active yet: an administrator activates it. Then log in to accept or to decline:`,
    later:
      'The invitation is under Inbox, for 30 days from now. Until you accept, the company does not learn whether you have an account. If you do not know it, do nothing.',
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
      `Das Unternehmen „${company}“ auf ${place} bittet Sie, für es als ${role} zu handeln. Um anzunehmen oder abzulehnen, legen Sie ein Konto mit dieser E-Mail-Adresse an:`,
    waits:
      'Eine Verwalterin oder ein Verwalter schaltet das Konto frei. Melden Sie sich dann an: Die Einladung ist 30 Tage lang unter Eingang. Bevor Sie annehmen, erfährt das Unternehmen nicht, ob Sie ein Konto haben. Wenn Sie es nicht kennen, tun Sie nichts.',
    inactive: (company, role, place) =>
      `Das Unternehmen „${company}“ auf ${place} bittet Sie, für es als ${role} zu handeln. Ihr Konto ist noch nicht freigeschaltet: Das tut eine Verwalterin oder ein Verwalter. Melden Sie sich dann an, um anzunehmen oder abzulehnen:`,
    later:
      'Die Einladung ist 30 Tage lang unter Eingang. Bevor Sie annehmen, erfährt das Unternehmen nicht, ob Sie ein Konto haben. Wenn Sie es nicht kennen, tun Sie nichts.',
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
      `Ikigo "${company}" kuri ${place} kiragusaba kugikorera nka ${role}. Kugira ngo wemere cyangwa wange, fungura konti ukoresheje iyi imeyili:`,
    waits:
      'Umuyobozi ni we wemera konti. Hanyuma injira: ubutumire buri mu Byakiriwe, mu minsi 30. Utaremera, ikigo ntikimenya niba ufite konti. Niba utakizi, ntugire icyo ukora.',
    inactive: (company, role, place) =>
      `Ikigo "${company}" kuri ${place} kiragusaba kugikorera nka ${role}. Konti yawe ntiremerwa: umuyobozi ni we uyemera. Hanyuma injira wemere cyangwa wange:`,
    later:
      'Ubutumire buri mu Byakiriwe, mu minsi 30. Utaremera, ikigo ntikimenya niba ufite konti. Niba utakizi, ntugire icyo ukora.',
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
      `La empresa «${company}» en ${place} le pide que actúe por ella como ${role}. Para aceptar o rechazar, cree una cuenta con esta dirección de correo:`,
    waits:
      'Un administrador activa la cuenta. Después inicie sesión: la invitación está en Bandeja de entrada, durante 30 días. Mientras no acepte, la empresa no sabe si tiene una cuenta. Si no la conoce, no haga nada.',
    inactive: (company, role, place) =>
      `La empresa «${company}» en ${place} le pide que actúe por ella como ${role}. Su cuenta aún no está activa: la activa un administrador. Después inicie sesión para aceptar o rechazar:`,
    later:
      'La invitación está en Bandeja de entrada, durante 30 días. Mientras no acepte, la empresa no sabe si tiene una cuenta. Si no la conoce, no haga nada.',
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
      `L’entreprise « ${company} » sur ${place} vous demande d’agir pour elle comme ${role}. Pour accepter ou refuser, créez un compte avec cette adresse e-mail :`,
    waits:
      'Un administrateur active le compte. Connectez-vous ensuite : l’invitation est sous Boîte de réception, pendant 30 jours. Tant que vous n’acceptez pas, l’entreprise ne sait pas si vous avez un compte. Si vous ne la connaissez pas, ne faites rien.',
    inactive: (company, role, place) =>
      `L’entreprise « ${company} » sur ${place} vous demande d’agir pour elle comme ${role}. Votre compte n’est pas encore actif : un administrateur l’active. Connectez-vous ensuite pour accepter ou refuser :`,
    later:
      'L’invitation est sous Boîte de réception, pendant 30 jours. Tant que vous n’acceptez pas, l’entreprise ne sait pas si vous avez un compte. Si vous ne la connaissez pas, ne faites rien.',
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
      `Kampuni "${company}" kwenye ${place} inakuomba uifanyie kazi kama ${role}. Ili kukubali au kukataa, fungua akaunti kwa anwani hii ya barua pepe:`,
    waits:
      'Msimamizi huiwezesha akaunti. Kisha ingia: mwaliko uko katika Kikasha, kwa siku 30. Hadi ukubali, kampuni haijui kama una akaunti. Kama huijui, usifanye lolote.',
    inactive: (company, role, place) =>
      `Kampuni "${company}" kwenye ${place} inakuomba uifanyie kazi kama ${role}. Akaunti yako bado haijawezeshwa: msimamizi huiwezesha. Kisha ingia ili kukubali au kukataa:`,
    later:
      'Mwaliko uko katika Kikasha, kwa siku 30. Hadi ukubali, kampuni haijui kama una akaunti. Kama huijui, usifanye lolote.',
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
  over: string;
  /** to an address that no account has */
  register: (company: string, role: string, place: string) => string;
  waits: string;
  /** to that of an account that is not active yet, before the link to the login */
  inactive: (company: string, role: string, place: string) => string;
  later: string;
  /** what roles are called in `ask` */
  roles: Record<CompanyRole, string>;
}
