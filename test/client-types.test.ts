import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTypes, { astToString } from 'openapi-typescript';
import { expect, test } from 'vitest';
import { temporaryFolder } from './helpers/folder.ts';

const NAMES = ['packet-service', 'trace-backend'] as const;
const TSC = fileURLToPath(new URL('../node_modules/@typescript/native/bin/tsc', import.meta.url));

const CLIENT = new URL('./fixtures/typed-client.txt', import.meta.url);

async function definitionOf(name: string) {
  return JSON.parse(await readFile(new URL(`../openapi/${name}.json`, import.meta.url), 'utf8'));
}

test.each(NAMES)('every operation of the %s has a readable operationId of its own', async name => {
  const { paths } = await definitionOf(name);
  const operations = Object.entries<Record<string, { operationId?: string }>>(paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [`${method} ${path}`, operationId] as const),
  );
  expect(operations.length).toBeGreaterThan(40);
  // A verb and what it acts on, in camel case, and no trace of the path's parameters.
  const unreadable = operations.filter(([, id]) => !/^[a-z]{2,}([A-Z][a-z]+)+$/.test(id ?? ''));
  expect(unreadable).toEqual([]);
  const ids = operations.map(([, id]) => id);
  expect(ids.filter((id, n) => ids.indexOf(id) !== n)).toEqual([]);
});

test('types generated from the definitions compile together with a client, which they check', async () => {
  const { folder, remove } = await temporaryFolder();
  try {
    for (const name of NAMES) {
      await writeFile(
        path.join(folder, `${name}.ts`),
        astToString(await openapiTypes(await definitionOf(name))),
      );
    }
    const client = await readFile(CLIENT, 'utf8');
    await writeFile(path.join(folder, 'client.ts'), client);
    expect(await compile(folder)).toBe('');
    await writeFile(path.join(folder, 'client.ts'), client.replace("name: 'Cooperative'", 'name: 5'));
    expect(await compile(folder)).toMatch(/client\.ts.*TS2322/);
  } finally {
    await remove();
  }
});

/** The messages of tsc about the files of a folder. */
async function compile(folder: string): Promise<string> {
  const config = {
    compilerOptions: {
      target: 'esnext',
      module: 'nodenext',
      lib: ['es2025', 'dom'],
      types: [],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
    },
    include: ['*.ts'],
  };
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const run = promisify(execFile)(process.execPath, [TSC, '-p', folder]);
  return run.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
}
