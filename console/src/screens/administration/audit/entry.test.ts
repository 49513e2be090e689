import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MESSAGE_LANGUAGES } from '../../../../../src/platform/messages/messages.ts';
import { AUDIT_ACTIONS } from '../../../../../src/trace-backend/base/audit/actions.ts';
import { linesOf, otherOf, pageOf, whatOf } from './entry.ts';

const entry = (action: string, entity: string, details: object = {}, entityId = '7') => ({
  action,
  entity,
  entityId,
  details: details as Record<string, unknown>,
});
const label = (id: string) => ({ kind: 'label', id, name: undefined });

test('every action that the trace backend records has a sentence, of its own in every language that has it', () => {
  for (const language of MESSAGE_LANGUAGES) {
    const file = new URL(`../../../../../messages/${language}/happened.json`, import.meta.url);
    const sentences: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'));
    if (language === 'en') expect(Object.keys(sentences).sort()).toEqual(AUDIT_ACTIONS);
    expect(new Set(Object.values(sentences)).size, language).toBe(Object.keys(sentences).length);
  }
});

test('an entry is about its record, or about what in it the details name', () => {
  expect(whatOf(entry('UPDATE_COMPANY', 'company'))).toEqual({ kind: 'company', id: '7', name: undefined });
  expect(whatOf(entry('CREATE_PRODUCT', 'product', { name: 'Tea' }))).toMatchObject({ name: 'Tea' });
  expect(whatOf(entry('CREATE_FACILITY_TYPE', 'facility-type', { label: 'Mill' }))).toMatchObject({
    name: 'Mill',
  });
  expect(whatOf(entry('PUBLISH_LABEL', 'product', { labelId: 3 }))).toEqual(label('3'));
  const batch = entry('CREATE_LABEL_BATCH', 'product', { labelId: 3, batchId: 4, number: 'B-1' });
  expect([whatOf(batch), otherOf(batch)]).toEqual([{ kind: 'batch', id: '4', name: 'B-1' }, label('3')]);
  const merge = entry('MERGE_TO_COMPANY', 'company', { from: 1, into: 2 });
  expect([whatOf(merge).id, otherOf(merge)?.id]).toEqual(['1', '2']);
  expect(otherOf(entry('ADD_USER_TO_COMPANY', 'company', { userId: 9 }))).toMatchObject({
    kind: 'user',
    id: '9',
  });
  expect(otherOf(entry('LOGIN', 'user'))).toBeUndefined();
  // A name of a user in details would be that of a key.
  expect(whatOf(entry('LOGIN', 'user', { name: 'x' })).name).toBeUndefined();
});

test('things lead to their pages, but not those that are gone', () => {
  const page = (action: string, entity: string, details?: object) => {
    const audited = entry(action, entity, details);
    return pageOf(whatOf(audited), action);
  };
  expect(page('UPDATE_PRODUCT', 'product')).toBe('/products/7/history');
  expect(page('PUBLISH_LABEL', 'product', { labelId: 3 })).toBe('/labels/3');
  expect(page('UPDATE_MEASURE_UNIT_TYPE', 'measure-unit-type')).toBe('/code-lists/measure-unit-types/7');
  expect(page('ACTIVATE_USER', 'user')).toBe('/administration/audit?entity=user&entityId=7');
  for (const [action, entity] of [
    ['DELETE_PRODUCT', 'product'],
    ['DELETE_VALUE_CHAIN', 'value-chain'],
    ['MAKE_KEY', 'signing_key'],
    ['OF_BEFORE', 'constructor'],
  ] as const)
    expect(page(action, entity), action).toBeUndefined();
});

test('changes have the words of the forms, with old and new values, and leave out what stayed', () => {
  const details = { status: ['ACTIVE', 'ACTIVE'], role: ['USER', 'SYSTEM_ADMIN'] };
  expect(linesOf(entry('SET_USER_SYSTEM_ADMIN', 'user', details))).toEqual([
    {
      title: 'administration.role',
      isChange: true,
      words: [
        { key: 'administration.role.USER', text: 'USER' },
        { key: 'administration.role.SYSTEM_ADMIN', text: 'SYSTEM_ADMIN' },
      ],
    },
  ]);
  const invited = entry('ADD_USER_TO_COMPANY', 'company', { companyRole: [null, 'MANAGER'], userId: 3 });
  expect(linesOf(invited)[0]?.words.map(({ key }) => key)).toEqual([
    'products.choice.none',
    'companies.role.MANAGER',
  ]);
  const fields = ['headquarters.city', 'logo', 'process', 'responsibility', 'toString'];
  const keys = (entity: string) => linesOf(entry('X', entity, { fields }))[0]?.words.map(({ key }) => key);
  expect(keys('company')?.slice(0, 2)).toEqual(['companies.field.city', 'companies.logo']);
  expect(keys('product')).toContain('products.group.story');
  expect(keys('product')).toHaveLength(4);
  const refused = { method: 'PUT', route: '/api/product', reason: 'it is not yours' };
  expect(linesOf(entry('REFUSED', 'user', refused)).map(({ words }) => words[0]?.text)).toEqual([
    'it is not yours',
    'PUT /api/product',
  ]);
});

test('a failed login has its reason in words, also for an address without an account', () => {
  const why = (reason: string, entityId?: string) =>
    linesOf(entry('LOGIN_FAILED', 'user', { reason }, entityId))[0]?.words;
  const login = (name: string, text: string) => [{ key: `administration.audit.login.${name}`, text }];
  expect(why('DEACTIVATED')).toEqual(login('DEACTIVATED', 'DEACTIVATED'));
  expect(why('password')).toEqual(login('password', 'password'));
  expect(why('password', '0a8f4c21d39b7e65')).toEqual(login('nobody', 'password'));
  expect(linesOf(entry('UPDATE_SETTING', 'setting', { fields: ['value', 'isPublic'] }))[0]?.words).toEqual([
    { key: 'administration.audit.setting.value', text: 'value' },
    { key: 'administration.audit.setting.isPublic', text: 'isPublic' },
  ]);
});
