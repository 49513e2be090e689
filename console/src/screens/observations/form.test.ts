import { expect, test } from 'vitest';
import { localTime, observationBody, offsetOf, saysNothing, typedValue, wrongNames } from './form.ts';

test('a draft becomes an observation with its offset, place, photos and typed values', () => {
  const draft = {
    message: 'Leaf rust',
    observedAt: '2026-03-01T08:15',
    lat: '-1.95',
    lon: '30.06',
    fields: [
      { name: ' severity ', value: '3' },
      { name: 'crop', value: 'bean' },
      { name: '', value: 'left out' },
    ],
  };
  expect(observationBody(draft, [{ id: 'att_1', name: 'leaf.jpg' }])).toEqual({
    observed_at: expect.stringMatching(/^2026-03-01T08:15:00[+-]\d\d:\d\d$/),
    capture_point: { lat: -1.95, lon: 30.06 },
    message: 'Leaf rust',
    attachments: [{ id: 'att_1', name: 'leaf.jpg' }],
    severity: 3,
    crop: 'bean',
  });
});

test('values are numbers only where nothing is lost', () => {
  expect(
    ['3', '-0.5', '007', '+4', '1e3', '9007199254740993', 'true', ' false ', '', ' a '].map(typedValue),
  ).toEqual([3, -0.5, '007', '+4', '1e3', '9007199254740993', true, false, '', ' a ']);
});

test('names that have a meaning, or are used twice, are wrong', () => {
  const named = (...names: string[]) => ({ fields: names.map(name => ({ name, value: '' })) });
  expect(wrongNames(named('crop', 'capture_point', ' crop '))).toEqual(['capture_point', 'crop']);
  expect(wrongNames(named('', '', 'crop'))).toEqual([]);
});

test('local times and offsets are those of the zone', () => {
  const at = (offset: number) =>
    Object.assign(new Date('2026-03-01T08:15:30Z'), { getTimezoneOffset: () => offset });
  expect([localTime(at(-120)), localTime(at(210))]).toEqual(['2026-03-01T10:15', '2026-03-01T04:45']);
  expect([offsetOf(at(-120)), offsetOf(at(210)), offsetOf(at(0))]).toEqual(['+02:00', '-03:30', '+00:00']);
});

test('an observation says nothing without a text, a photo or a filled detail', () => {
  const says = (change: object, photos: object[] = []) =>
    !saysNothing({ message: ' ', observedAt: '', lat: '1', lon: '2', fields: [], ...change }, photos);
  expect([
    says({}),
    says({ fields: [{ name: 'crop', value: ' ' }] }),
    says({ fields: [{ name: '', value: 'x' }] }),
  ]).toEqual([false, false, false]);
  expect([
    says({ message: 'rust' }),
    says({}, [{}]),
    says({ fields: [{ name: 'crop', value: 'x' }] }),
  ]).toEqual([true, true, true]);
});
