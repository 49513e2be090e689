import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { meeting } from './predicates.ts';
import { type Contact, pointsInside, sweepEdges } from './sweep.ts';

type Edge = [ax: number, ay: number, bx: number, by: number];

/** Edges between points of a small grid, so that they share points, lines and stretches. */
const edgesOn = (size: number, most: number) =>
  fc
    .array(fc.tuple(fc.nat(size), fc.nat(size), fc.nat(size), fc.nat(size)), { maxLength: most })
    .map(edges => edges.filter(([ax, ay, bx, by]) => ax !== bx || ay !== by));

/** Every two edges that meet, by looking at all of them. */
function everyContact(edges: readonly Edge[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const [j, other] of edges.entries()) {
    for (const [i, earlier] of edges.slice(0, j).entries()) {
      const how = meeting(...earlier, ...other);
      if (how !== 'apart') found.set(`${i} ${j}`, how);
    }
  }
  return found;
}

function sweep(edges: readonly Edge[]): { found: Map<string, string>; contacts: Contact[]; end?: Contact } {
  const found = new Map<string, string>();
  const contacts: Contact[] = [];
  const end = sweepEdges(Float64Array.from(edges.flat()), contact => {
    found.set(`${contact.first} ${contact.second}`, contact.how);
    contacts.push(contact);
    return true;
  });
  return { found, contacts, ...(end && { end }) };
}

/** The edges without those that cross an earlier one. */
function uncrossed(edges: readonly Edge[]): Edge[] {
  const kept: Edge[] = [];
  for (const edge of edges)
    if (kept.every(other => meeting(...edge, ...other) !== 'crossing')) kept.push(edge);
  return kept;
}

test('a crossing is found exactly where comparing each edge with each finds one', () => {
  let crossed = 0;
  fc.assert(
    fc.property(edgesOn(6, 8), edges => {
      const crossings = [...everyContact(edges)].filter(([, how]) => how === 'crossing');
      const { end } = sweep(edges);
      expect(end !== undefined).toBe(crossings.length > 0);
      if (!end) return;
      crossed++;
      expect(crossings.map(([pair]) => pair)).toContain(`${end.first} ${end.second}`);
    }),
    { numRuns: runs(5000) },
  );
  expect(crossed).toBeGreaterThan(runs(5000) / 10);
});

test('without a crossing every contact is reported, and nothing else, each at a point of both edges', () => {
  let contactCount = 0;
  fc.assert(
    fc.property(edgesOn(8, 60).map(uncrossed), fc.nat(3), (edges, turn) => {
      const turned = edges.map(edge => {
        const [ax, ay, bx, by] = edge;
        return [edge, [ay, ax, by, bx], [-ax, ay, -bx, by], [bx, by, ax, ay]][turn] as Edge;
      });
      const { found, contacts, end } = sweep(turned);
      expect(end).toBeUndefined();
      expect(new Map([...found].sort())).toEqual(new Map([...everyContact(turned)].sort()));
      contactCount += found.size;
      for (const { first, second, x, y } of contacts) {
        for (const edge of [turned[first], turned[second]] as Edge[]) {
          expect(meeting(...edge, x, y, x, y)).not.toBe('apart');
        }
      }
    }),
    { numRuns: runs(2000) },
  );
  expect(contactCount).toBeGreaterThan(runs(2000) / 5);
});

test('the first contact that is not accepted ends the sweep', () => {
  fc.assert(
    fc.property(edgesOn(5, 20).map(uncrossed), fc.nat(5), (edges, accepted) => {
      let calls = 0;
      const refused = sweepEdges(Float64Array.from(edges.flat()), () => calls++ < accepted);
      expect(calls).toBe(refused ? accepted + 1 : calls);
      if (!refused) expect(calls).toBeLessThanOrEqual(accepted);
    }),
    { numRuns: runs(500) },
  );
});

/** Corners around the origin, each in a direction of its own, counter-clockwise. */
const star = (radius: number) =>
  fc.array(fc.integer({ min: radius / 4, max: radius }), { minLength: 3, maxLength: 40 }).map(radii =>
    radii.map((length, k): [number, number] => {
      const angle = (2 * Math.PI * k) / radii.length;
      return [Math.round(length * Math.cos(angle)), Math.round(length * Math.sin(angle))];
    }),
  );

function edgesOfRing(corners: readonly [number, number][]): Edge[] {
  return corners.map((corner, k) => [...corner, ...(corners[(k + 1) % corners.length] as [number, number])]);
}

test('a point is inside where a ray from it leaves the region an odd number of times', () => {
  const point = fc.tuple(fc.integer({ min: -1100, max: 1100 }), fc.integer({ min: -1100, max: 1100 }));
  fc.assert(
    fc.property(star(1000), fc.array(point, { maxLength: 30 }), (corners, points) => {
      const hole = corners.map(([x, y]): [number, number] => [Math.round(x / 5), Math.round(y / 5)]);
      const edges = [...edgesOfRing(corners), ...edgesOfRing(hole.reverse())].filter(
        ([ax, ay, bx, by]) => ax !== bx || ay !== by,
      );
      const off = points
        .map(([x, y]): [number, number] => [x + 0.25, y + 0.125])
        .filter(([x, y]) => edges.every(edge => meeting(...edge, x, y, x, y) === 'apart'));
      const odd = ([x, y]: [number, number]) =>
        edges.filter(([ax, ay, bx, by]) => ay > y !== by > y && ax + ((y - ay) / (by - ay)) * (bx - ax) > x)
          .length %
          2 ===
        1;
      expect(pointsInside(Float64Array.from(edges.flat()), off.flat())).toEqual(off.map(odd));
    }),
    { numRuns: runs(2000) },
  );
});
