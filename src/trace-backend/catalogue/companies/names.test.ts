import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let ana: LoggedIn;
let stranger: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  [ana, stranger] = [await trace.loggedIn(), await trace.loggedIn()];
});
afterAll(() => trace.stop());

async function create(name: string): Promise<number> {
  const { body } = await ana.send('POST', '/api/company/create', { name });
  return body.data.id;
}
const find = (by: LoggedIn, query: Record<string, string>) =>
  by.send('GET', `/api/company/names?${new URLSearchParams(query)}`);

test('every user finds active companies by a part of their name, and nothing but id and name', async () => {
  const ids = [await create('Äpfel & Söhne'), await create('Café Ñandú'), await create('Nandu Traders')];
  const found = await find(stranger, { name: 'ÑAN' });
  expect([found.status, found.body.data]).toEqual([200, [{ id: ids[1], name: 'Café Ñandú' }]]);
  const both = (await find(stranger, { name: 'ndu' })).body.data.map(({ id }: { id: number }) => id);
  expect(both).toEqual([ids[2]]);
  expect((await find(stranger, { name: 'äpfel & s' })).body.data).toEqual([
    { id: ids[0], name: 'Äpfel & Söhne' },
  ]);
  const system = await trace.loggedIn('SYSTEM_ADMIN');
  await system.send('POST', '/api/company/execute/DEACTIVATE_COMPANY', { companyId: ids[0] });
  expect((await find(ana, { name: 'äpfel' })).body.data).toEqual([]);
});

test('an answer has at most 20 names, by name, and fewer on demand', async () => {
  for (let n = 10; n < 32; n++) await create(`Many ${n}`);
  const names = async (query: Record<string, string>) =>
    (await find(stranger, query)).body.data.map(({ name }: { name: string }) => name);
  expect(await names({ name: 'many' })).toEqual(Array.from({ length: 20 }, (_, n) => `Many ${n + 10}`));
  expect(await names({ name: 'many', limit: '2' })).toEqual(['Many 10', 'Many 11']);
});

test('a search without a name, or for too much, is refused by its field, and so is a visitor', async () => {
  for (const [query, field] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'x', limit: '21' }, 'limit'],
    [{ name: 'x', limit: '0' }, 'limit'],
  ] as const) {
    const { status, body } = await find(ana, query as Record<string, string>);
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)]).toEqual([400, [field]]);
  }
  expect((await trace.send('GET', '/api/company/names?name=x')).status).toBe(401);
});
