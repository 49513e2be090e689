import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../../test/helpers/property.ts';
import { contactKind, MAX_CONTACT, readContact } from './contact.ts';

const read = (value: string) => readContact(value, 'contact_value');

test('an address is looked up in lower case, its domain in ASCII', () => {
  for (const [value, contact] of [
    ['Ben.K@Example.ORG', 'ben.k@example.org'],
    ['  ben@example.org\t', 'ben@example.org'],
    ['ben+farm@mail.example.co.ke', 'ben+farm@mail.example.co.ke'],
    ['ben@BÜCHER.example', 'ben@xn--bcher-kva.example'],
    ['jos\u0065\u0301@example.org', 'jos\u00e9@example.org'],
    ['ben@localhost', 'ben@localhost'],
  ] as const) {
    expect([read(value), contactKind(read(value))]).toEqual([contact, 'email']);
  }
});

test('an international phone number is + and digits, however it was written', () => {
  for (const value of ['+254 700 000 000', '00254-700-000-000', '+254 (0)700 000 000', '+254.700/000000']) {
    expect([read(value), contactKind(read(value))]).toEqual(['+254700000000', 'phone']);
  }
});

test('anything else is a name: it can be listed and looked up, and nothing is sent to it', () => {
  for (const [value, contact] of [
    ['Ben', 'ben'],
    ['0700 000 000', '0700 000 000'],
    ['+12', '+12'],
    ['+1 234 567 890 123 456', '+1 234 567 890 123 456'],
    ['ben@', 'ben@'],
    ['a@b@c', 'a@b@c'],
    ['"ben eve"@example.org', '"ben eve"@example.org'],
    ['ben@[127.0.0.1]', 'ben@[127.0.0.1]'],
    ['ben@example..org', 'ben@example..org'],
    ['ben@-example.org', 'ben@-example.org'],
    ['ben@example.org, eve@example.org', 'ben@example.org, eve@example.org'],
    ['Ben <ben@example.org>', 'ben <ben@example.org>'],
    [`${'x'.repeat(65)}@example.org`, `${'x'.repeat(65)}@example.org`],
  ] as const) {
    expect([read(value), contactKind(read(value))]).toEqual([contact, 'other']);
  }
});

test('empty and too long contacts, and control characters, are refused by field', () => {
  for (const value of [
    '',
    '  ',
    'x'.repeat(MAX_CONTACT + 1),
    'a\r\nb',
    'a\0b',
    'a\u2028b',
    'ben@example.org\nx',
  ]) {
    expect(() => read(value)).toThrow(/^contact_value must/);
  }
});

test('a contact that was read once reads the same again, and no text takes long or breaks it', () => {
  const part = fc.constantFrom(
    'ben',
    '@',
    '.',
    'example',
    'org',
    '+',
    '254',
    ' ',
    '-',
    '(0)',
    'É',
    '\u0131',
    '00',
    '"',
    '<',
  );
  const texts = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.array(part, { maxLength: 40 }).map(parts => parts.join('')),
  );
  fc.assert(
    fc.property(texts, text => {
      let contact: string;
      try {
        contact = read(text);
      } catch {
        return;
      }
      expect(read(contact)).toBe(contact);
    }),
    { numRuns: runs(2000) },
  );
});
