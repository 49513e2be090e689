import { expect, test } from 'vitest';
import { mailedLink } from './mailed-link.ts';

test('recognises mailed links about accounts by their paths, and no other path', () => {
  expect(mailedLink('/confirm-email/abc')).toEqual({ kind: 'confirm', token: 'abc' });
  expect(mailedLink('/reset-password/abc')).toEqual({ kind: 'newPassword', token: 'abc' });
  expect(mailedLink('/email-change/abc/')).toEqual({ kind: 'change', token: 'abc' });
  expect(mailedLink('/company-invitation/abc')).toEqual({ kind: 'company', token: 'abc' });
  expect(['/', '/inbox', '/confirm-email', '/packets/abc'].map(mailedLink)).toEqual(Array(4).fill(undefined));
});
