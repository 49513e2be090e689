import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CONDITIONS } from '../../../../../src/platform/database/condition.ts';
import { detailKey, statusKey } from './words.ts';

const ENGLISH = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../../../messages/en/administration.json'), 'utf8'),
);

test('every status and detail of a service has its words; an unknown one has none', () => {
  const statuses = [...CONDITIONS, 'STOPPING'].map(statusKey);
  const details = [
    ['clock', 'OK'],
    ['clock', 'BEHIND'],
    ['replicas', 'OK'],
    ['replicas', 'LEFT_OUT'],
    ...['mail', 'webhook'].flatMap(name => [
      [name, 'OK'],
      [name, 'FAILING'],
    ]),
    ...['STARTING', 'NO_BACKUP', 'FAILING', 'GAP', 'BEHIND', 'OLD', 'NOT_ARCHIVING'].map(trouble => [
      'backup',
      trouble,
    ]),
  ].map(([name = '', status = '']) => detailKey({ name, status }));
  for (const key of [...statuses, ...details])
    expect(ENGLISH).toHaveProperty([String(key).replace('administration.', '')]);
  expect(new Set([...statuses, ...details]).size).toBe(statuses.length + details.length);
  for (const [name, status] of [
    ['clock', 'LEFT_OUT'],
    ['backup', 'good'],
    ['disk', 'OK'],
  ] as const) {
    expect(detailKey({ name, status })).toBeUndefined();
  }
  expect(statusKey('toString')).toBeUndefined();
});
