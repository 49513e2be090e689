import { expect, test } from 'vitest';
import { contactKind } from './contact.ts';

test('a contact is an email address or a phone number with its country code', () => {
  for (const address of ['ben@example.org', ' Ben.Doe+farm@müller.example '])
    expect(contactKind(address), address).toBe('email');
  for (const number of ['+250 788 123 456', '00250788123456', '+44 (0)20 7946-0958'])
    expect(contactKind(number), number).toBe('phone');
  for (const other of [
    'foo',
    '0788123456',
    '17',
    '+0788123456',
    '+250',
    'ben@',
    '@example.org',
    'a b@c.org',
    '',
  ])
    expect(contactKind(other), other).toBeUndefined();
});
