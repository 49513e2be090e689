import { expect, test } from 'vitest';
import { latestVersions } from './latest-versions.ts';

test('a field has the last version of itself, its inner fields and its parents', () => {
  const versions = latestVersions([
    { path: '', version: 1 },
    { path: 'origin', version: 2 },
    { path: 'origin.locations.0.pinName', version: 5 },
    { path: 'origin.locations.0', version: 4 },
    { path: 'origins', version: 9 },
    { path: 'name', version: 3 },
  ]);
  const expected = { origin: 5, 'origin.text': 2, 'origin.locations': 5, 'origin.locations.0.latitude': 4 };
  for (const [path, version] of Object.entries({ ...expected, name: 3, description: 0 }))
    expect(versions.of(path), path).toBe(version);
});
