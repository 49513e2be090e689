import { expect, test } from 'vitest';
import { storedFiles } from './message.ts';

test('files are those of this service, by an id or in an object, which may have their name', () => {
  const id = 'att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2';
  expect(
    storedFiles({
      attachments: [
        id,
        { id, name: 'leaf.JPG' },
        { id, name: 'rows.csv' },
        { id, name: ' ' },
        null,
        'https://elsewhere.example/x.jpg',
        {},
        'att_1/../x',
      ],
    }),
  ).toEqual([
    { id, name: undefined, isPicture: false },
    { id, name: 'leaf.JPG', isPicture: true },
    { id, name: 'rows.csv', isPicture: false },
    { id, name: undefined, isPicture: false },
  ]);
  expect(storedFiles({})).toEqual([]);
});
