import { expect, test } from 'vitest';
import { isScreen } from './is-screen.ts';

test('distinguishes screens from the services behind the console', () => {
  for (const path of ['/', '/packets', '/packets/01JD', '/map', '/observations/new', '/healthy']) {
    expect(isScreen(path), path).toBe(true);
  }
  for (const path of ['/packet', '/packet/docs', '/trace/api/user/profile', '/basemap', '/health/live']) {
    expect(isScreen(path), path).toBe(false);
  }
});
