import { expect, test } from 'vitest';
import { beganAt } from './status.ts';

test("an instance's id contains the time when its backups began", () => {
  expect(beganAt('20260301T081500Z-0a1b2c3d')).toBe('2026-03-01T08:15:00.000Z');
  expect(beganAt('an id of another kind')).toBeUndefined();
});
