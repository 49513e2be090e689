import { expect, test } from 'vitest';
import { merged } from './merge.ts';

const form = (values: Record<string, string>, more: object = {}) => ({
  values,
  prices: [] as object[],
  ...more,
});

test('each keeps what they changed, and what only one changed is no conflict', () => {
  const before = form({ name: 'Tea', text: '', 'origin.text': 'Huye' });
  const mine = form(
    { name: 'Green tea', text: '', 'origin.text': 'Huye' },
    { prices: [{ name: 'Farm gate' }] },
  );
  const theirs = form({ name: 'Tea', text: 'From the hills', 'origin.text': '' });
  expect(merged(before, mine, theirs)).toEqual({
    form: form(
      { name: 'Green tea', text: 'From the hills', 'origin.text': '' },
      { prices: [{ name: 'Farm gate' }] },
    ),
    conflicts: [],
  });
});

test('a conflict keeps the user’s value and names the other one', () => {
  const before = form({ name: 'Tea', same: 'a' }, { photo: { storageKey: 'a', name: 'a.jpg' } });
  const mine = form(
    { name: 'Green tea', same: 'b' },
    { photo: { storageKey: 'b', name: 'b.jpg' }, prices: [{ value: '1' }] },
  );
  const theirs = form(
    { name: 'Black tea', same: 'b' },
    { photo: { storageKey: 'c', name: 'c.jpg' }, prices: [{ value: '2' }] },
  );
  const { form: both, conflicts } = merged(before, mine, theirs);
  expect(both).toEqual(mine);
  expect(conflicts).toEqual([
    { path: 'name', theirs: 'Black tea' },
    { path: 'prices', theirs: undefined },
    { path: 'photo', theirs: undefined },
  ]);
});

test('an entry that one side removed and the other left unchanged is gone', () => {
  const before = form({}, { photo: { storageKey: 'a' } });
  expect(merged<object>(before, before, form({}, { photo: undefined })).form).toHaveProperty(
    'photo',
    undefined,
  );
  const mine = form({}, { photo: undefined });
  expect(merged(before, mine, before)).toEqual({ form: mine, conflicts: [] });
});
