import { expect, test } from 'vitest';
import { MESSAGE_LANGUAGES } from '../../../../platform/messages/messages.ts';
import { confirmationOpening, mailTexts } from './mails.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const SENDER = { id: '7', name: 'Ana Uwase' };
const SHARED = {
  packetId: ID,
  shareId: ID,
  notificationId: ID,
  fromUser: '7',
  userId: '8',
  contact: 'b@c.d',
} as unknown as Parameters<ReturnType<typeof mailTexts>['shareCreated']>[1];

test('every mail is in the language of the reader, with every placeholder filled', () => {
  for (const consoleUrl of ['https://console.example', undefined]) {
    const texts = mailTexts({ publicUrl: 'https://packet.example', consoleUrl });
    for (const language of MESSAGE_LANGUAGES) {
      const mails = [
        texts.shareCreated(SENDER, SHARED, { language }),
        texts.sharesDigest(2, '7', { language }),
        ...(['active', 'waiting', 'none', undefined] as const).map(account =>
          texts.invitationSent(SENDER, 'b@c.d', 'SECRET', { language, account }),
        ),
        texts.confirmContact('7', 'SECRET', { language }),
      ];
      expect(new Set(mails.map(({ text }) => text)).size).toBe(mails.length - (consoleUrl ? 0 : 3));
      for (const { subject, text, html } of mails) {
        expect(html).toContain(`<html lang="${language}">`);
        expect(`${subject}\n${text}`, language).not.toMatch(/\{\w|shared-mails\./);
      }
    }
  }
});

test('a digest counts in the forms of its language, in those of English where there are no words', () => {
  const texts = mailTexts({ publicUrl: 'https://packet.example', consoleUrl: undefined });
  for (const [language, ...expected] of [
    ['EN', '0 more observations', '1 more observation from', '2 more observations'],
    ['DE', '0 weitere Beobachtungen', '1 weitere Beobachtung aus', '2 weitere Beobachtungen'],
    ['ES', '0 observaciones', '1 observación', '2 observaciones'],
    ['FR', '0 autre observation du', '1 autre observation du', '2 autres observations'],
    [
      'RW',
      'ibindi byabonetse mu murima: 0',
      'ikindi cyabonetse mu murima: 1',
      'ibindi byabonetse mu murima: 2',
    ],
    ['SW', 'chunguzi nyingine 0', 'uchunguzi mwingine 1', 'chunguzi nyingine 2'],
    ['PT', '0 more observations', '1 more observation from', '2 more observations'],
  ] as const) {
    for (const [count, words] of expected.entries()) {
      const { text, html } = texts.sharesDigest(count, '7', { language });
      expect(text, language).toContain(words);
      expect(html).toContain(`<html lang="${language === 'PT' ? 'en' : language.toLowerCase()}">`);
    }
  }
});

test('a confirmation begins with the user in every language, so that it is found when they are erased', () => {
  const texts = mailTexts({ publicUrl: 'https://packet.example', consoleUrl: undefined });
  for (const user of ['7', 'ana@phone', '"Ana"\nhttps://evil.example']) {
    for (const language of [...MESSAGE_LANGUAGES, 'PT', undefined]) {
      const { text } = texts.confirmContact(user, 'SECRET', language === undefined ? {} : { language });
      expect(text.startsWith(confirmationOpening(user)), text).toBe(true);
      expect(text).not.toContain('evil.example/');
    }
  }
  expect(texts.confirmContact('70', 'SECRET', {}).text).not.toContain(confirmationOpening('7'));
});
