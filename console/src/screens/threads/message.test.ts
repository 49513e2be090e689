import { expect, test } from 'vitest';
import { storedFiles } from './message.ts';

test('files are those of this service, whether they are named by an id or in an object', () => {
  const id = 'att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2';
  expect(
    storedFiles({
      attachments: [id, { id, name: 'leaf.jpg' }, 'https://elsewhere.example/x.jpg', {}, 'att_1/../x'],
    }),
  ).toEqual([id, id]);
  expect(storedFiles({})).toEqual([]);
});
