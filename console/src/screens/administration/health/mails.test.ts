import { expect, test } from 'vitest';
import { mailFinding, mailState } from './mails.ts';

const [early, late] = ['2026-03-01T08:00:00.000Z', '2026-03-01T09:00:00.000Z'];
const queues = (waiting: number) => [
  { queue: 'dead', waiting: 7 },
  { queue: 'mail', waiting },
];

test('combines the email delivery of both services', () => {
  const services = [
    {
      queues: queues(2),
      givenUp: 1,
      sentAt: late,
      failedAt: early,
      lastError: 'the mail server answered 451',
    },
    { queues: queues(3), givenUp: 4, failedAt: late, lastError: 'the mail server could not be reached' },
  ];
  expect(mailState(services)).toEqual({
    sentAt: late,
    failedAt: late,
    lastError: 'the mail server could not be reached',
    waiting: 5,
    givenUp: 5,
  });
  expect(mailState([{ queues: [], givenUp: 0 }])).toEqual({ waiting: 0, givenUp: 0 });
});

test('email delivery fails until an email is sent', () => {
  const none = { waiting: 0, givenUp: 0 };
  expect(mailFinding(none)).toBe('none');
  expect(mailFinding({ ...none, sentAt: early })).toBe('good');
  expect(mailFinding({ ...none, failedAt: early })).toBe('failing');
  expect(mailFinding({ ...none, sentAt: early, failedAt: late, givenUp: 1 })).toBe('failing');
  expect(mailFinding({ ...none, sentAt: late, failedAt: early })).toBe('good');
  expect(mailFinding({ ...none, sentAt: late, givenUp: 1 })).toBe('givenUp');
});
