import { expect, test } from 'vitest';
import { invitationToken } from './invitation-token.ts';

test('the token is found in the link of the mail, and is taken as it is without one', () => {
  expect(
    [
      'https://field.example/invitations/abc_-1',
      ' https://field.example/invitations/abc_-1/?from=mail#top ',
      'https://field.example/invitations/abc_-1/accept',
      'https://console.example/inbox?invitation=abc_-1',
      'abc_-1',
      '',
    ].map(invitationToken),
  ).toEqual(['abc_-1', 'abc_-1', 'abc_-1', 'abc_-1', 'abc_-1', '']);
});
