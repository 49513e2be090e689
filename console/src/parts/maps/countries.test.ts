import { expect, test } from 'vitest';
import { countriesPath, countryAt, countryNames, surelyIn } from './countries.ts';

test('the country of a place is known on land, also inside another country, and not at sea', () => {
  const places = [
    [30.06, -1.95, 'Rwanda'],
    [28.3, -29.5, 'Lesotho'],
    [26, -29.1, 'South Africa'],
    [-150, 65, 'United States of America'],
    [-30, 0, undefined],
  ] as const;
  for (const [lon, lat, name] of places) expect(countryAt(lon, lat), `${lon} ${lat}`).toBe(name);
});

test('a country is filled in only where the coarse map is sure of it', () => {
  expect(surelyIn(30.06, -1.95)).toBe('RW');
  expect(surelyIn(-30, 0)).toBeUndefined();
  // Near the border with Burundi, and in a part of Somalia that has no code.
  expect([surelyIn(29.9, -2.35), surelyIn(46, 9.5)]).toEqual([undefined, undefined]);
});

test('names are where their countries are, in the language of the reader', () => {
  const names = countryNames((code, other) => (code === 'DE' ? 'Allemagne' : other));
  const of = (name: string) => names.find(found => found.name === name);
  expect(names.length).toBeGreaterThan(150);
  expect(Math.round(of('Allemagne')?.x ?? 0)).toBe(10);
  expect(of('Russia')?.width).toBeGreaterThan(100);
  expect(of('Rwanda')?.width).toBeLessThan(3);
  expect(countriesPath()).toMatch(/^M[-\d.]+,[-\d.]+L/);
});
