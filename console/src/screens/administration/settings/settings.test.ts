import { expect, test } from 'vitest';
import { groupsOf, type Setting, stateOf } from './settings.ts';

const setting = (name: string, group: string, values: Partial<Setting> = {}): Setting => ({
  name,
  group,
  changed: false,
  description: '',
  ...values,
});
const SETTINGS = [
  setting('BACKUP_URL', 'backups'),
  setting('SMTP_URL', 'mail', { value: 'smtp://host', changed: true }),
  setting('BACKUP_KEEP_DAYS', 'backups', { value: '14', default: '14' }),
];

test('a setting is set, has its default, or has no value', () => {
  expect(SETTINGS.map(stateOf)).toEqual(['none', 'set', 'default']);
});

test('settings are grouped by subject, and found by a part of the name or by their state', () => {
  const names = (wanted: string, state: string) =>
    groupsOf(SETTINGS, wanted, state).map(([group, found]) => [group, found.map(({ name }) => name)]);
  expect(names('', '')).toEqual([
    ['backups', ['BACKUP_URL', 'BACKUP_KEEP_DAYS']],
    ['mail', ['SMTP_URL']],
  ]);
  expect(names(' url ', '')).toEqual([
    ['backups', ['BACKUP_URL']],
    ['mail', ['SMTP_URL']],
  ]);
  expect(names('', 'set')).toEqual([['mail', ['SMTP_URL']]]);
  expect(names('', 'default')).toEqual([['backups', ['BACKUP_KEEP_DAYS']]]);
  expect(names('', 'none')).toEqual([['backups', ['BACKUP_URL']]]);
  expect(names('backup', 'set')).toEqual([]);
});
