import { expect, test } from 'vitest';
import { invitationToken } from './invitation-token.ts';

test('finds the token in the link of the email, or takes the text as the token', () => {
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
