import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withoutReferences } from './helpers/definition.ts';
import { type RunningTrace, runningTrace } from './helpers/trace.ts';

interface Operation {
  summary?: string;
  tags?: string[];
  security?: object[];
  parameters?: { name: string; schema: object }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

let trace: RunningTrace;
type Definition = {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string }[];
  components: { securitySchemes: object; schemas: Record<string, object> };
};
let definition: Definition;
/** The schema without references. */
let whole: Definition;
beforeAll(async () => {
  trace = await runningTrace();
  definition = (await trace.send('GET', '/v3/api-docs')).body;
  whole = withoutReferences(definition);
});
afterAll(() => trace.stop());

const operations = () =>
  Object.entries(whole.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
  );

test('the definition in openapi/ is the one the running service gives (npm run openapi writes it)', async () => {
  const kept = await readFile(new URL('../openapi/trace-backend.json', import.meta.url), 'utf8');
  expect(JSON.parse(kept)).toEqual(definition);
});

test('it is valid OpenAPI 3.1, with the cookie as its security scheme', async () => {
  expect(definition.openapi).toBe('3.1.0');
  expect((await new Validator().validate(definition)).errors ?? []).toEqual([]);
  expect(definition.components.securitySchemes).toMatchObject({
    cookie: { type: 'apiKey', in: 'cookie', name: 'trace-accessToken' },
  });
});

test('every operation has a summary, a known tag, its request, and every answer with the envelope', () => {
  const tags = definition.tags.map(({ name }) => name);
  for (const { name, path, operation } of operations()) {
    expect(operation.summary, name).toBeTypeOf('string');
    expect(operation.tags?.length, name).toBe(1);
    expect(tags, name).toContain(operation.tags?.[0]);
    for (const parameter of path.match(/\{(\w+)\}/g) ?? []) {
      expect(
        operation.parameters?.map(declared => `{${declared.name}}`),
        name,
      ).toContain(parameter);
    }
    for (const [status, { description }] of Object.entries(operation.responses)) {
      expect(description, `${name} ${status}`).not.toBe('Default Response');
    }
    const secured = operation.security === undefined;
    expect('401' in operation.responses || !secured, name).toBe(true);
  }
});

test('every example fits its schema', () => {
  const ajv = new Ajv({ strict: false, allErrors: true });
  let count = 0;
  const visit = (schema: unknown, at: string): void => {
    if (schema === null || typeof schema !== 'object') return;
    const { examples, ...rest } = schema as { examples?: unknown[] };
    for (const example of Array.isArray(examples) ? examples : []) {
      count++;
      expect(ajv.validate(rest, example), `${at}: ${JSON.stringify(example)} ${ajv.errorsText()}`).toBe(true);
    }
    for (const [key, value] of Object.entries(rest)) visit(value, `${at}.${key}`);
  };
  for (const { name, operation } of operations()) visit(operation, name);
  expect(count).toBeGreaterThan(50);
});

test('shared schemas are in the definition once', () => {
  const text = JSON.stringify(definition);
  expect(text.length).toBeLessThan(JSON.stringify(whole).length / 3);
  for (const [name, schema] of Object.entries(definition.components.schemas)) {
    const sharedText = `"$ref":"#/components/schemas/${name}"`;
    expect(text, name).toContain(sharedText);
    expect(JSON.stringify(schema), name).not.toContain(sharedText);
  }
  expect(text).not.toContain('x-name');
});

test('definition and page are at the root and not under /api; the page loads nothing from other hosts', async () => {
  for (const path of ['/api', '/api/', '/api/v3/api-docs', '/api/docs', '/api/static/index.html']) {
    const answer = await trace.send('GET', path);
    expect([answer.status, answer.body?.status], path).toEqual([404, 'NOT_FOUND']);
  }
  const page = await trace.send('GET', '/');
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  for (const [, link] of page.text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    expect(link).not.toMatch(/^(https?:)?\/\//);
    expect((await trace.send('GET', new URL(link as string, `${trace.url}/`).pathname)).status, link).toBe(
      200,
    );
  }
});
