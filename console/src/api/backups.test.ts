import { expect, test } from 'vitest';
import { adviceFor, urgencyOf } from './backups.ts';

const NOW = new Date('2026-03-31T12:00:00Z');

test('backups are set up first, then work, then are verified at least every month', () => {
  const advice = (state: Parameters<typeof adviceFor>[0]) => adviceFor(state, NOW);
  expect(advice({ configured: false })).toBe('none');
  expect(advice({ configured: true, status: 'STARTING' })).toBe('starting');
  expect(advice({ configured: true, status: 'GAP', lastVerifiedAt: '2026-03-30T12:00:00Z' })).toBe('GAP');
  expect(advice({ configured: true, status: 'SOMETHING_NEW' })).toBe('FAILING');
  expect(advice({ configured: true, status: 'OK' })).toBe('never');
  const since = (beganAt: string) => advice({ configured: true, status: 'OK', beganAt });
  expect([since('2026-03-25T12:00:00Z'), since('2026-03-24T12:00:00Z')]).toEqual(['young', 'never']);
  expect(advice({ configured: true, status: 'OK', lastVerifiedAt: '2026-02-20T12:00:00Z' })).toBe(
    'unverified',
  );
  expect(advice({ configured: true, status: 'OK', lastVerifiedAt: '2026-03-01T12:00:00Z' })).toBe('good');
});

test('only what may lose something is pressing', () => {
  expect((['young', 'good', 'never', 'unverified', 'none', 'GAP'] as const).map(urgencyOf)).toEqual([
    'none',
    'none',
    'soon',
    'soon',
    'now',
    'now',
  ]);
});
