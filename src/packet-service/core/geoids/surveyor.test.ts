import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { pacer } from '../../../platform/concurrency/pacer.ts';
import { survey } from './survey.ts';
import { openSurveyor } from './surveyor.ts';

const surveyor = openSurveyor(pacer(20_000));
afterAll(() => surveyor.close());

/** A ring with a number of corners, round or with spikes, somewhere. */
function star(corners: number, depth: number, [lon, lat]: [number, number] = [10, 10]) {
  const ring = Array.from({ length: corners }, (_, n) => {
    const angle = (2 * Math.PI * n) / corners;
    const radius = n % 2 === 0 ? 0.001 : 0.001 * depth;
    return [lon + radius * Math.cos(angle), lat + radius * Math.sin(angle)];
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
}

test('a thread reads a large boundary, and finds its faults, like the main thread', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 4, max: 2499 }),
      fc.double({ min: 0.9, max: 1, noNaN: true }),
      fc.boolean(),
      async (half, depth, withCovers) => {
        const boundary = star(2 * half, depth);
        expect(await surveyor.survey(boundary, 'geometry', withCovers)).toEqual(
          survey(boundary, 'geometry', withCovers),
        );
      },
    ),
    { numRuns: runs(20) },
  );
  const open = star(4000, 0.9);
  open.coordinates[0]?.pop();
  await expect(surveyor.survey(open, 'geojson', false)).rejects.toMatchObject({
    code: 'invalid',
    message: 'geojson.coordinates[0]: the ring is not closed; its last position must equal its first',
  });
});

test('other work continues while large boundaries are read', async () => {
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const read = await Promise.all(
    Array.from({ length: 5 }, () => surveyor.survey(star(4998, 0.9), 'g', true)),
  );
  clearImmediate(next);
  expect(read).toHaveLength(5);
  expect(turns).toBeGreaterThan(20);
});

test('too many large boundaries at once get 503', async () => {
  const surveys = Array.from({ length: 210 }, () => surveyor.survey(star(600, 0.9), 'g', false));
  const done = await Promise.allSettled(surveys);
  const refused = done.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(10);
  expect(refused[0]).toMatchObject({ reason: { code: 'unavailable', retryAfter: 5 } });
});

test('a thread that has ended is replaced', async () => {
  await surveyor.survey(star(600, 0.9), 'g', false);
  const waiting = surveyor.survey(star(4998, 0.9), 'g', false);
  await Promise.all([expect(waiting).rejects.toThrow('has ended'), surveyor.close()]);
  expect(await surveyor.survey(star(600, 0.9), 'g', false)).toMatchObject({ ground: {} });
});
