import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

interface Component {
  name: string;
  version: string;
  properties?: { name: string; value: string }[];
}

const root = path.resolve(import.meta.dirname, '../..');

test('npm run sbom prints a CycloneDX document of all packages, and marks those for development', async () => {
  const run = promisify(execFile);
  const { stdout } = await run('npm', ['run', '--silent', 'sbom'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { bomFormat, components } = JSON.parse(stdout);
  expect(bomFormat).toBe('CycloneDX');
  const inDevelopment = new Map<string, boolean>(
    components.map(({ name, version, properties = [] }: Component) => [
      `${name}@${version}`,
      properties.some(property => property.name === 'cdx:npm:package:development'),
    ]),
  );
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  // npm's --omit=dev would leave out what a development package needs, too, such as ajv.
  const marks = (of: Record<string, string>) =>
    new Set(
      Object.entries(of).map(([name, version]) =>
        // An alias says npm:<package>@<version>.
        inDevelopment.get(`${name}@${version.replace(/^npm:.*@/, '')}`),
      ),
    );
  expect(marks(dependencies)).toEqual(new Set([false]));
  // Packages of production need these as well: @fastify/swagger the first, OpenTelemetry's instrumentation the others.
  const { yaml, '@types/node': node, '@types/pg': pg, ...forDevelopment } = devDependencies;
  expect(marks({ yaml, '@types/node': node, '@types/pg': pg })).toEqual(new Set([false]));
  expect(marks(forDevelopment)).toEqual(new Set([true]));
});
