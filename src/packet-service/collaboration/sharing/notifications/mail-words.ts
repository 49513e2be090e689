/** The words of mails about shares and invitations in one language. `sender` is a name, or an identifier in quotes. */
interface Words {
  shared: {
    subject: string;
    say: (sender: string) => string;
    /** before the link to the inbox */
    answer: string;
    number: string;
  };
  invited: {
    subject: string;
    say: (sender: string) => string;
    /** to somebody with an account, before the link to the inbox */
    logIn: string;
    /** the same while the account is not active */
    wait: string;
    /** to somebody without an account, before the link to the registration */
    register: string;
    afterwards: string;
    /** before the link with the code, for an account with another address */
    other: string;
    /** before the link with the code, where it is not known whether there is an account */
    open: string;
    /** the same where field apps take the place of the console */
    inApp: string;
    /** before the code alone */
    code: string;
    found: string;
    over: (days: number) => string;
  };
  confirm: {
    subject: string;
    /** begins with the sender and a space, by which the mail is found when the sender is erased */
    say: (sender: string) => string;
    /** before the link, or before the code where field apps take the place of the console */
    open: string;
    inApp: string;
    over: (days: number) => string;
  };
  /** the label before a code */
  code: string;
}

const EN: Words = {
  code: 'Code',
  shared: {
    subject: 'An observation was shared with you',
    say: sender => `${sender} shared an observation from the field with you:`,
    answer: 'It waits in your inbox, where you accept or decline it:',
    number: 'Number of the share',
  },
  invited: {
    subject: 'You are invited to observations from the field',
    say: sender => `${sender} wants to share an observation from the field with you.`,
    logIn: 'It waits in your inbox. Log in to read it, and to accept or decline it:',
    wait: 'Your account is not active yet. As soon as it is, log in: the observation waits in your inbox.',
    register: 'To read it, create an account with this e-mail address:',
    afterwards: 'As soon as your account is active, log in: the observation waits in your inbox.',
    other:
      'If you have an account with another address, open this link instead, or enter the code in your inbox:',
    open: 'To read it, open this link and log in, or create an account. Or enter the code in your inbox:',
    inApp: 'To read it, open this link in your field app, or enter the code there:',
    code: 'Field apps take this code:',
    found: 'Anyone who accepts with this code can then be found by this address.',
    over: days => `It works once, for ${days} days. If you do not know what this is about, do nothing.`,
  },
  confirm: {
    subject: 'Confirm your address',
    say: sender => `${sender} says that this is their address, and wants what is shared with it.`,
    open: 'If that is you, open this link:',
    inApp: 'If that is you, open this link in your field app, or enter the code there:',
    over: days => `It works once, for ${days} days. If that is not you, do nothing.`,
  },
};

const DE: Words = {
  code: 'Code',
  shared: {
    subject: 'Eine Beobachtung wurde mit Ihnen geteilt',
    say: sender => `${sender} hat eine Beobachtung aus dem Feld mit Ihnen geteilt:`,
    answer: 'Sie wartet in Ihrem Eingang, wo Sie sie annehmen oder ablehnen:',
    number: 'Nummer der Freigabe',
  },
  invited: {
    subject: 'Sie sind zu Beobachtungen aus dem Feld eingeladen',
    say: sender => `${sender} möchte eine Beobachtung aus dem Feld mit Ihnen teilen.`,
    logIn: 'Sie wartet in Ihrem Eingang. Melden Sie sich an, um sie zu lesen und anzunehmen oder abzulehnen:',
    wait: 'Ihr Konto ist noch nicht freigeschaltet. Melden Sie sich an, sobald es das ist: Die Beobachtung wartet in Ihrem Eingang.',
    register: 'Um sie zu lesen, legen Sie ein Konto mit dieser E-Mail-Adresse an:',
    afterwards:
      'Sobald Ihr Konto freigeschaltet ist, melden Sie sich an: Die Beobachtung wartet in Ihrem Eingang.',
    other:
      'Wenn Sie ein Konto mit einer anderen Adresse haben, öffnen Sie stattdessen diesen Link oder geben Sie den Code in Ihrem Eingang ein:',
    open: 'Um sie zu lesen, öffnen Sie diesen Link und melden Sie sich an, oder legen Sie ein Konto an. Oder geben Sie den Code in Ihrem Eingang ein:',
    inApp: 'Um sie zu lesen, öffnen Sie diesen Link in Ihrer Feld-App, oder geben Sie dort den Code ein:',
    code: 'Feld-Apps nehmen diesen Code:',
    found: 'Wer mit diesem Code annimmt, ist danach unter dieser Adresse zu finden.',
    over: days => `Er gilt einmal, ${days} Tage lang. Wenn Sie nicht wissen, worum es geht, tun Sie nichts.`,
  },
  confirm: {
    subject: 'Bestätigen Sie Ihre Adresse',
    say: sender =>
      `${sender} sagt, dies sei die eigene Adresse, und möchte bekommen, was mit ihr geteilt wird.`,
    open: 'Wenn Sie das sind, öffnen Sie diesen Link:',
    inApp: 'Wenn Sie das sind, öffnen Sie diesen Link in Ihrer Feld-App, oder geben Sie dort den Code ein:',
    over: days => `Er gilt einmal, ${days} Tage lang. Wenn Sie das nicht sind, tun Sie nichts.`,
  },
};

const RW: Words = {
  code: 'Kode',
  shared: {
    subject: 'Wasangijwe ibyabonetse mu murima',
    say: sender => `${sender} yagusangije ibyabonetse mu murima:`,
    answer: 'Biri mu Byakiriwe byawe, aho ubyemera cyangwa ubyanga:',
    number: 'Nimero y’isangizwa',
  },
  invited: {
    subject: 'Utumiwe ku byabonetse mu murima',
    say: sender => `${sender} arashaka kugusangiza ibyabonetse mu murima.`,
    logIn: 'Biri mu Byakiriwe byawe. Injira ubisome, ubyemere cyangwa ubyange:',
    wait: 'Konti yawe ntiremerwa. Nimara kwemerwa, injira: ibyabonetse biri mu Byakiriwe byawe.',
    register: 'Kugira ngo ubisome, fungura konti ukoresheje iyi imeyili:',
    afterwards: 'Konti yawe nimara kwemerwa, injira: ibyabonetse biri mu Byakiriwe byawe.',
    other: 'Niba ufite konti ifite indi meyili, fungura iyi linki, cyangwa wandike kode mu Byakiriwe byawe:',
    open: 'Kugira ngo ubisome, fungura iyi linki winjire, cyangwa ufungure konti. Cyangwa wandike kode mu Byakiriwe byawe:',
    inApp: 'Kugira ngo ubisome, fungura iyi linki muri porogaramu yawe, cyangwa wandikemo kode:',
    code: 'Porogaramu zo mu murima zakira iyi kode:',
    found: 'Uwemeye akoresheje iyi kode ashobora kuboneka kuri iyi imeyili.',
    over: days => `Ikora inshuro imwe, mu minsi ${days}. Niba utazi ibyo ari byo, ntugire icyo ukora.`,
  },
  confirm: {
    subject: 'Emeza imeyili yawe',
    say: sender => `${sender} avuga ko iyi ari imeyili ye, kandi ashaka ibisangizwa kuri yo.`,
    open: 'Niba ari wowe, fungura iyi linki:',
    inApp: 'Niba ari wowe, fungura iyi linki muri porogaramu yawe, cyangwa wandikemo kode:',
    over: days => `Ikora inshuro imwe, mu minsi ${days}. Niba atari wowe, ntugire icyo ukora.`,
  },
};

const ES: Words = {
  code: 'Código',
  shared: {
    subject: 'Se compartió una observación con usted',
    say: sender => `${sender} compartió con usted una observación del campo:`,
    answer: 'Espera en su bandeja de entrada, donde usted la acepta o la rechaza:',
    number: 'Número de lo compartido',
  },
  invited: {
    subject: 'Está invitado a observaciones del campo',
    say: sender => `${sender} quiere compartir con usted una observación del campo.`,
    logIn: 'Espera en su bandeja de entrada. Inicie sesión para leerla y aceptarla o rechazarla:',
    wait: 'Su cuenta aún no está activa. En cuanto lo esté, inicie sesión: la observación espera en su bandeja de entrada.',
    register: 'Para leerla, cree una cuenta con esta dirección de correo:',
    afterwards:
      'En cuanto su cuenta esté activa, inicie sesión: la observación espera en su bandeja de entrada.',
    other:
      'Si tiene una cuenta con otra dirección, abra en su lugar este enlace, o introduzca el código en su bandeja de entrada:',
    open: 'Para leerla, abra este enlace e inicie sesión, o cree una cuenta. O introduzca el código en su bandeja de entrada:',
    inApp: 'Para leerla, abra este enlace en su aplicación de campo, o introduzca allí el código:',
    code: 'Las aplicaciones de campo aceptan este código:',
    found: 'Quien acepte con este código podrá ser encontrado por esta dirección.',
    over: days => `Sirve una vez, durante ${days} días. Si no sabe de qué se trata, no haga nada.`,
  },
  confirm: {
    subject: 'Confirme su dirección',
    say: sender => `${sender} dice que esta es su dirección, y quiere recibir lo que se comparta con ella.`,
    open: 'Si es usted, abra este enlace:',
    inApp: 'Si es usted, abra este enlace en su aplicación de campo, o introduzca allí el código:',
    over: days => `Sirve una vez, durante ${days} días. Si no es usted, no haga nada.`,
  },
};

const FR: Words = {
  code: 'Code',
  shared: {
    subject: 'Une observation a été partagée avec vous',
    say: sender => `${sender} a partagé avec vous une observation du terrain :`,
    answer: 'Elle attend dans votre boîte de réception, où vous l’acceptez ou la refusez :',
    number: 'Numéro du partage',
  },
  invited: {
    subject: 'Vous êtes invité à des observations du terrain',
    say: sender => `${sender} veut partager avec vous une observation du terrain.`,
    logIn:
      'Elle attend dans votre boîte de réception. Connectez-vous pour la lire, et pour l’accepter ou la refuser :',
    wait: 'Votre compte n’est pas encore actif. Dès qu’il l’est, connectez-vous : l’observation attend dans votre boîte de réception.',
    register: 'Pour la lire, créez un compte avec cette adresse e-mail :',
    afterwards:
      'Dès que votre compte est actif, connectez-vous : l’observation attend dans votre boîte de réception.',
    other:
      'Si vous avez un compte avec une autre adresse, ouvrez plutôt ce lien, ou saisissez le code dans votre boîte de réception :',
    open: 'Pour la lire, ouvrez ce lien et connectez-vous, ou créez un compte. Ou saisissez le code dans votre boîte de réception :',
    inApp: 'Pour la lire, ouvrez ce lien dans votre application de terrain, ou saisissez-y le code :',
    code: 'Les applications de terrain prennent ce code :',
    found: 'Qui accepte avec ce code peut ensuite être trouvé par cette adresse.',
    over: days =>
      `Il sert une seule fois, pendant ${days} jours. Si vous ne savez pas de quoi il s’agit, ne faites rien.`,
  },
  confirm: {
    subject: 'Confirmez votre adresse',
    say: sender =>
      `${sender} dit que cette adresse est la sienne, et veut recevoir ce qui est partagé avec elle.`,
    open: 'Si c’est vous, ouvrez ce lien :',
    inApp: 'Si c’est vous, ouvrez ce lien dans votre application de terrain, ou saisissez-y le code :',
    over: days => `Il sert une seule fois, pendant ${days} jours. Si ce n’est pas vous, ne faites rien.`,
  },
};

const SW: Words = {
  code: 'Msimbo',
  shared: {
    subject: 'Umeshirikishwa uchunguzi',
    say: sender => `${sender} amekushirikisha uchunguzi kutoka shambani:`,
    answer: 'Unasubiri katika kikasha chako, ambapo unaukubali au kuukataa:',
    number: 'Namba ya ushirikishaji',
  },
  invited: {
    subject: 'Umealikwa kwenye uchunguzi kutoka shambani',
    say: sender => `${sender} anataka kukushirikisha uchunguzi kutoka shambani.`,
    logIn: 'Unasubiri katika kikasha chako. Ingia ili kuusoma, na kuukubali au kuukataa:',
    wait: 'Akaunti yako bado haijawezeshwa. Mara tu ikiwezeshwa, ingia: uchunguzi unasubiri katika kikasha chako.',
    register: 'Ili kuusoma, fungua akaunti kwa anwani hii ya barua pepe:',
    afterwards: 'Mara tu akaunti yako ikiwezeshwa, ingia: uchunguzi unasubiri katika kikasha chako.',
    other:
      'Kama una akaunti yenye anwani nyingine, fungua kiungo hiki badala yake, au andika msimbo katika kikasha chako:',
    open: 'Ili kuusoma, fungua kiungo hiki uingie, au fungua akaunti. Au andika msimbo katika kikasha chako:',
    inApp: 'Ili kuusoma, fungua kiungo hiki katika programu yako ya shambani, au andika humo msimbo:',
    code: 'Programu za shambani hupokea msimbo huu:',
    found: 'Anayekubali kwa msimbo huu anaweza kupatikana kwa anwani hii baadaye.',
    over: days =>
      `Hufanya kazi mara moja, kwa siku ${days}. Kama hujui hili ni kuhusu nini, usifanye lolote.`,
  },
  confirm: {
    subject: 'Thibitisha anwani yako',
    say: sender => `${sender} anasema kuwa hii ni anwani yake, na anataka yanayoshirikishwa nayo.`,
    open: 'Kama ni wewe, fungua kiungo hiki:',
    inApp: 'Kama ni wewe, fungua kiungo hiki katika programu yako ya shambani, au andika humo msimbo:',
    over: days => `Hufanya kazi mara moja, kwa siku ${days}. Kama si wewe, usifanye lolote.`,
  },
};

/** By the language of the recipient, as the registry of users names it. */
const WORDS: Readonly<Record<string, Words>> = { EN, DE, RW, ES, FR, SW };

/** The languages of mails, as the registry of users names them. */
export const MAIL_LANGUAGES: readonly string[] = Object.keys(WORDS);

/** The words in a language; in English if there are none in it. */
export function wordsIn(language: string | undefined): { words: Words; tag: string } {
  const code = (language ?? '').toUpperCase();
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return words ? { words, tag: code.toLowerCase() } : { words: EN, tag: 'en' };
}
