import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { definitionOf } from './helpers/definition.ts';
import { type RunningService, runningService } from './helpers/service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

test('the definition in openapi/ is the one the running service gives (npm run openapi writes it)', async () => {
  const kept = await readFile(new URL('../openapi/packet-service.json', import.meta.url), 'utf8');
  const { body } = await service.send('GET', '/openapi.json');
  expect(JSON.parse(kept)).toEqual(body);
});

test('the definition is valid OpenAPI 3.1', async () => {
  const { body } = await service.send('GET', '/openapi.json');
  expect(body.openapi).toBe('3.1.0');
  const result = await new Validator().validate(body);
  expect(result.errors ?? []).toEqual([]);
});

test('every operation says what it is, what it takes and every answer it gives', async () => {
  const body = await definitionOf(service.send, '/openapi.json');
  for (const [path, methods] of Object.entries<Record<string, Record<string, unknown>>>(body.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method} ${path}`;
      expect(operation.summary, name).toBeTypeOf('string');
      expect((operation.tags as string[]).length, name).toBe(1);
      const answers = operation.responses as Record<string, { description: string }>;
      for (const [status, { description }] of Object.entries(answers)) {
        expect(description, `${name} ${status}`).not.toBe('Default Response');
      }
      expect(
        Object.keys(answers).some(status => status.startsWith('2')),
        name,
      ).toBe(true);
    }
  }
});

test('the documentation page and all it loads come from the service itself', async () => {
  const page = await service.send('GET', '/docs');
  expect(page.status).toBe(200);
  const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1] as string);
  expect(links.length).toBeGreaterThan(3);
  for (const link of links) {
    expect(link).not.toMatch(/^(https?:)?\/\//);
    const { status } = await service.send('GET', new URL(link, `${service.url}/docs/`).pathname);
    expect(status, link).toBe(200);
  }
});
