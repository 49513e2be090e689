import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from '../../../test/helpers/chain.ts';
import { definitionOf } from '../../../test/helpers/definition.ts';
import { picture, uploadFile } from '../../../test/helpers/images.ts';
import { companyForm, productForm } from '../../../test/helpers/product-forms.ts';
import { type RunningTrace, runningTrace } from '../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
});
afterAll(() => trace.stop());

type Fields = Record<string, unknown>;
const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);

/** The fields that an operation can clear, and its description, by the definition. */
async function definitionOfPut(path: string): Promise<{ description: string; clearable: string[] }> {
  const { put } = (await definitionOf(trace.send, '/v3/api-docs')).paths[path];
  const { properties } = put.requestBody.content['application/json'].schema;
  const takesNull = ([, { type, anyOf = [] }]: [string, { type?: unknown; anyOf?: { type: string }[] }]) =>
    [type].flat().includes('null') || anyOf.some(option => option.type === 'null');
  const clearable = Object.entries<{ type?: unknown }>(properties)
    .filter(takesNull)
    .map(([name]) => name);
  return { description: put.description, clearable };
}

async function company() {
  await send('PUT', '/api/company/profile', { ...companyForm(kopanyi.companyId), manager: 'Ana' });
  return {
    change: (fields: Fields) => send('PUT', '/api/company/profile', { id: kopanyi.companyId, ...fields }),
    read: async (): Promise<Fields> =>
      (await send('GET', `/api/company/profile/${kopanyi.companyId}`)).body.data,
  };
}

async function product() {
  const { storageKey } = (
    await uploadFile(trace, kopanyi.user, 'image', await picture(9, 9).png().toBuffer())
  ).body.data;
  const id = await added(kopanyi.user, productForm({ id: kopanyi.companyId }, storageKey));
  return {
    change: (fields: Fields) => send('PUT', '/api/product', { id, ...fields }),
    read: async (): Promise<Fields> => read(kopanyi.user, id),
  };
}

async function label() {
  const productId = await added(kopanyi.user, { name: 'Tea' });
  const fields = { name: 'Altitude', section: 'Origin', value: 1700 };
  const sent = { productId, title: 'Spring', language: 'EN', fields };
  const { id } = (await send('POST', '/api/product/label/create', sent)).body.data;
  return {
    change: (changed: Fields) => send('PUT', '/api/product/label', { id, ...changed }),
    read: async (): Promise<Fields> => (await send('GET', `/api/product/label/${id}`)).body.data,
  };
}

/** Whether an answer shows that a field has no value. */
const isEmpty = (value: unknown) =>
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value as object).length === 0);

/** Fields that no change clears: they identify the record or its owner. */
const KEPT = ['id', 'uuid', 'status', 'name', 'company', 'associatedCompanies', 'labels', 'productId'];

for (const [path, make] of [
  ['/api/company/profile', company],
  ['/api/product', product],
  ['/api/product/label', label],
] as const) {
  test(`PUT ${path}: null changes nothing and an empty text clears, as the definition says`, async () => {
    const { description, clearable } = await definitionOfPut(path);
    expect(description).toMatch(/null and omitted fields stay unchanged[^.]*; an empty text clears a field/i);
    const record = await make();
    const before = await record.read();
    const set = clearable.filter(name => !isEmpty(before[name]));
    expect(set.length).toBeGreaterThan(2);
    const { status, text } = await record.change(Object.fromEntries(clearable.map(name => [name, null])));
    expect(status, text).toBe(200);
    expect({ ...(await record.read()), updatedAt: 0 }).toEqual({ ...before, updatedAt: 0 });
    for (const name of set.filter(name => !KEPT.includes(name))) {
      const cleared = await record.change({ [name]: '' });
      expect([name, cleared.status, cleared.text]).toEqual([name, 200, expect.any(String)]);
      const after = (await record.read())[name];
      // Answers always have the prices.
      const left = name === 'settings' ? { ...(after as Fields), pricingTransparency: undefined } : after;
      expect([name, isEmpty(JSON.parse(JSON.stringify(left ?? '')))]).toEqual([name, true]);
    }
  });
}

test('no description of the definition says that null clears', async () => {
  const text = JSON.stringify(await definitionOf(trace.send, '/v3/api-docs'));
  expect(text).not.toMatch(/null (clears|to clear|removes)/i);
});
