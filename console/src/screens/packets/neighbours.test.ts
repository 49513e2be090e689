import { expect, test } from 'vitest';
import { readNeighbours } from './neighbours.ts';

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
