import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from './helpers/service.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from './helpers/trace.ts';

let service: RunningService;
let trace: RunningTrace;
let user: LoggedIn;
beforeAll(async () => {
  service = await runningService();
  trace = await runningTrace();
  user = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => Promise.all([service.stop(), trace.stop()]));

interface Operation {
  name: string;
  description: string;
  open: boolean;
  answers: string[];
}

/** The operations of a definition that take JSON. */
async function operations(of: RunningService, path: string): Promise<Operation[]> {
  type Described = {
    description?: string;
    security?: unknown[];
    requestBody?: { content: object };
    responses: object;
  };
  const paths = (await of.send('GET', path)).body.paths as Record<string, Record<string, Described>>;
  return Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods)
      .filter(([, { requestBody }]) => 'application/json' in (requestBody?.content ?? {}))
      .map(([method, { description = '', security, responses }]) => ({
        name: `${method.toUpperCase()} ${url}`,
        description,
        open: security?.length === 0,
        answers: Object.keys(responses),
      })),
  );
}

/** A JSON text with a number of bytes. */
const textOf = (bytes: number) => `{"x":"${'x'.repeat(bytes - 8)}"}`;

test('the definitions state the maximum size of every body, and the answer to larger ones', async () => {
  for (const [of, path] of [
    [service, '/openapi.json'],
    [trace, '/v3/api-docs'],
  ] as const) {
    const { info } = (await of.send('GET', path)).body;
    expect(info.description).toContain('at most 20,000 arrays and objects, 262,144 values and 64 levels');
    for (const { name, description, answers } of await operations(of, path)) {
      expect(description, name).toMatch(/Maximum body size: \d+ [KM]iB\.$/);
      expect(answers, name).toContain('413');
    }
  }
});

test('the trace backend accepts 16 KiB from clients that are not logged in, and 64 KiB of feedback', async () => {
  const open = (await operations(trace, '/v3/api-docs')).filter(operation => operation.open);
  expect(open.length).toBeGreaterThan(5);
  for (const { name, description } of open) {
    const most = name.includes('/feedback/') ? 64 : 16;
    expect(description, name).toContain(`Maximum body size: ${most} KiB.`);
    const [method = '', path = ''] = name.split(' ');
    expect((await trace.send(method, path, textOf(most * 1024))).status, name).not.toBe(413);
    expect((await trace.send(method, path, textOf(most * 1024 + 1))).status, name).toBe(413);
  }
});

test('fields come in bodies of up to 2 MiB', async () => {
  expect((await service.send('PUT', '/fields', textOf(2 * 1024 * 1024))).status).toBe(400);
  expect((await service.send('PUT', '/fields', textOf(2 * 1024 * 1024 + 1))).status).toBe(413);
});

test('a body with too many values is refused before it is parsed, by every route that takes JSON', async () => {
  const body = `[${'1,'.repeat(262_144)}1`;
  for (const [of, path] of [
    [service, '/openapi.json'],
    [user, '/v3/api-docs'],
  ] as const) {
    for (const { name, description } of await operations(of === user ? trace : service, path)) {
      const [method = '', url = ''] = name.replaceAll(/\{\w+\}/g, 'x').split(' ');
      const large = !/Maximum body size: (16|64|512) KiB/.test(description) && !name.endsWith('/batch');
      if (!large) continue;
      const answer = await of.send(method, url, body, { 'content-type': 'application/json' });
      const error = answer.body.error ?? answer.body.errorMessage;
      expect([answer.status, error], name).toEqual([400, '[262143]: the body has more than 262144 values']);
    }
  }
});

test('a list that is too long is the only fault reported, however wrong its items are', async () => {
  for (const [field, items, most] of [
    ['associatedCompanies', Array(6000).fill({ company: { id: {} }, type: 5 }), 200],
    ['labels', Array(100_000).fill(0), 50],
    ['origin.locations', Array(5000).fill({ latitude: 'north', pinName: 7 }), 1000],
  ] as const) {
    const value = field === 'origin.locations' ? { origin: { locations: items } } : { [field]: items };
    const { status, body } = await user.send('POST', '/api/product/create', { name: 7, ...value });
    expect(status, JSON.stringify(body)).toBe(400);
    expect(body.validationErrorDetails.fieldErrors).toEqual({
      [field]: `${field} must have at most ${most} items`,
    });
  }
});

test('at most fifty faults of a list are reported, each once and by its path', async () => {
  const associatedCompanies = Array(200).fill({ company: { id: {} }, type: 'ROASTER' });
  const { body } = await user.send('POST', '/api/product/create', { name: 'Bourbon', associatedCompanies });
  const { fieldErrors } = body.validationErrorDetails;
  expect(Object.keys(fieldErrors)).toHaveLength(50);
  expect(fieldErrors['associatedCompanies.0.company.id']).toBe(
    'associatedCompanies.0.company.id must be a whole number or a whole number as a string',
  );
});

test("a path with a name of the client's own is cut", async () => {
  for (const [length, cut] of [
    [255, 200],
    [100_000, 'settings.pricingTransparency'.length],
  ] as const) {
    const settings = { pricingTransparency: { ['p'.repeat(length)]: 'four' } };
    const { body } = await user.send('POST', '/api/product/create', { name: 'Bourbon', settings });
    const [[path, sentence] = []] = Object.entries(body.validationErrorDetails.fieldErrors);
    expect([path?.length, String(sentence).length < 300]).toEqual([cut, true]);
  }
});
