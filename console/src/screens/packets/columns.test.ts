import { expect, test } from 'vitest';
import { additionalFields, cellText, chosenColumns, fieldsOf } from './columns.ts';
import { readNeighbours } from './neighbours.ts';

test('additional fields are what has no column of its own', () => {
  const bodies = [
    { message: 'm', crop: 'bean', severity: 3 },
    { capture_point: {}, severity: { max: 5 }, 'a,b': 1, '': 2 },
  ];
  expect(additionalFields(bodies)).toEqual(['crop', 'severity']);
  expect(chosenColumns(new URLSearchParams('columns=crop,severity,crop,'))).toEqual(['crop', 'severity']);
  expect(chosenColumns(new URLSearchParams())).toEqual([]);
  expect(bodies.map(body => cellText(body, 'severity'))).toEqual(['3', '{"max":5}']);
  expect(cellText({}, 'toString')).toBe('');
  expect(cellText({ crop: 'b'.repeat(500) }, 'crop')).toHaveLength(121);
  expect(fieldsOf({ text: 't', crop: 'bean', yes: true })).toEqual([
    { name: 'crop', text: 'bean' },
    { name: 'yes', text: 'true' },
  ]);
});

test('the neighbours of a packet are read from its triples', () => {
  const lines = [
    ['rdf:type', 'Packet'],
    ['packet:geoid', 'g'],
    ['packet:geoid', 'h'],
    ['packet:prev', '01JD7Q2M8XW3N5R6T8V9Y0Z1A2'],
    ['packet:sender', '7'],
  ].map(([predicate, object]) => JSON.stringify({ subject: 'p', predicate, object }));
  expect(readNeighbours(`${lines.join('\n')}\n`)).toEqual({
    geoids: ['g', 'h'],
    previous: '01JD7Q2M8XW3N5R6T8V9Y0Z1A2',
    thread: undefined,
    sender: '7',
  });
  expect(readNeighbours('')).toEqual({
    geoids: [],
    previous: undefined,
    thread: undefined,
    sender: undefined,
  });
});
