import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { MAIL_LANGUAGES } from './mail-words.ts';
import { confirmationOpening, mailTexts } from './mails.ts';

const MESSAGES = path.resolve(import.meta.dirname, '../../../../../console/src/messages');
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

test('every mail has words of its own in every language of the console', () => {
  const folders = readdirSync(MESSAGES).filter(name => /^[a-z]{2}$/.test(name));
  expect(MAIL_LANGUAGES.map(code => code.toLowerCase()).sort()).toEqual(folders.sort());
  for (const consoleUrl of ['https://console.example', undefined]) {
    const texts = mailTexts({ publicUrl: 'https://packet.example', consoleUrl });
    const written = MAIL_LANGUAGES.map(language =>
      [
        texts.shareCreated(SENDER, SHARED, { language }),
        ...(['active', 'waiting', 'none', undefined] as const).map(account =>
          texts.invitationSent(SENDER, 'b@c.d', 'SECRET', { language, account }),
        ),
        texts.confirmContact('7', 'SECRET', { language }),
      ].map(({ subject, text, html }) => {
        expect(html).toContain(`<html lang="${language.toLowerCase()}">`);
        return `${subject}\n${text}`;
      }),
    );
    for (const same of written[0]?.keys() ?? [])
      expect(new Set(written.map(all => all[same])).size, written[0]?.[same]).toBe(MAIL_LANGUAGES.length);
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
    for (const language of [...MAIL_LANGUAGES, 'PT', undefined]) {
      const { text } = texts.confirmContact(user, 'SECRET', language === undefined ? {} : { language });
      expect(text.startsWith(confirmationOpening(user)), text).toBe(true);
      expect(text).not.toContain('evil.example/');
    }
  }
  expect(texts.confirmContact('70', 'SECRET', {}).text).not.toContain(confirmationOpening('7'));
});
