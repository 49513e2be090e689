import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read } from './helpers/chain.ts';
import { definitionOf } from './helpers/definition.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from './helpers/trace.ts';

let trace: RunningTrace;
let admin: LoggedIn;
/** The path of every list. */
const paths: string[] = [];
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  await admin.send('POST', '/api/company/create', { name: 'Kopanyi' });
  let product = 0;
  for (const name of ['Tea', 'Coffee', 'Cocoa']) product = await added(admin, { name });
  await admin.send('PUT', '/api/product', { id: product, name: 'Cocoa beans' });
  expect((await read(admin, product)).name).toBe('Cocoa beans');
  const inviter = await trace.loggedIn();
  for (const name of ['Huye', 'Jimma']) {
    const { body } = await inviter.send('POST', '/api/company/create', { name });
    const companyId = body.data.id;
    await inviter.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', { companyId, userId: admin.id });
  }
  await trace.pool.query("UPDATE currency_types SET enabled = false WHERE code = 'JPY'");
  const [companyId, partner] = [await company('Musanze'), await company('Association')];
  const associatedCompanies = [{ company: { id: partner }, type: 'ASSOCIATION' }];
  const owned = await added(admin, { name: 'Bananas', company: { id: companyId }, associatedCompanies });
  for (const id of [product, owned]) await finalProduct(id);
  const label = await labelOf(product);
  const valueChainId = await valueChain(companyId);
  const body = await definitionOf(trace.send, '/v3/api-docs');
  for (const [path, { get }] of Object.entries<{ get?: { parameters?: { name: string }[] } }>(body.paths)) {
    const isList = get?.parameters?.some(({ name }) => name === 'offset');
    if (!isList) continue;
    const ids = { company: companyId, chain: valueChainId, label: label.id, product };
    const kind = path.startsWith('/api/company/')
      ? 'company'
      : path.includes('value-chain')
        ? 'chain'
        : path.includes('/label/')
          ? 'label'
          : 'product';
    const values: Record<string, unknown> = {
      id: ids[kind],
      productId: product,
      uuid: label.uuid,
      companyId,
    };
    const needed = path.endsWith('/by-value-chains') ? `?valueChainIds=${valueChainId}` : '';
    paths.push(path.replace(/\{(\w+)\}/, (_, name) => String(values[name])) + needed);
  }
});
afterAll(() => trace.stop());

/** A published label of a product, with an entry in each of its lists. */
async function labelOf(productId: number): Promise<{ id: number; uuid: string }> {
  const post = async (path: string, sent: object) => {
    const { status, body, text } = await admin.send('POST', path, sent);
    expect(status, text).toBe(200);
    return body.data;
  };
  const label = await post('/api/product/label/create', { productId, title: 'Cocoa' });
  await post('/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  await post('/api/product/label_batch/create', { labelId: label.id, number: 'B-001' });
  await post(`/api/product/knowledgeBlog/${productId}`, { title: 'How we pay' });
  const feedback = { feedback: 'Nice', gdprConsent: true };
  await post(`/api/public/product/label/feedback/${label.uuid}`, feedback);
  return label;
}

async function finalProduct(productId: number): Promise<void> {
  const answer = await admin.send('PUT', `/api/product/${productId}/finalProduct`, { name: 'A bag' });
  expect(answer.status, answer.text).toBe(200);
}

async function company(name: string): Promise<number> {
  return (await admin.send('POST', '/api/company/create', { name })).body.data.id;
}

/** A value chain that uses a code of each list, of a company. */
async function valueChain(companyId: number): Promise<number> {
  const saved = async (path: string, body: object, method = 'PUT') => {
    const answer = await admin.send(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data.id as number;
  };
  const code = { code: 'ONE', fieldName: 'ONE', label: 'One', name: 'One' };
  const id = await saved('/api/product-type', code, 'POST');
  const chain: Record<string, object> = { productType: { id } };
  for (const [field, path] of [
    ['facilityTypes', 'facility-type'],
    ['measureUnitTypes', 'measure-unit-type'],
    ['processingEvidenceTypes', 'processing-evidence-type'],
    ['processingEvidenceFields', 'processing-evidence-field'],
    ['semiProducts', 'semi-product'],
  ] as const) {
    chain[field] = [{ id: await saved(`/api/chain/${path}`, code) }];
  }
  const valueChainId = await saved('/api/chain/value-chain', { name: 'One', ...chain });
  await trace.pool.query(
    'INSERT INTO company_value_chains (company_id, value_chain_id, position) VALUES ($1, $2, 1)',
    [companyId, valueChainId],
  );
  return valueChainId;
}

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

async function list(path: string, query = '') {
  const { status, body } = await admin.send('GET', withQuery(path, query));
  expect(status, `${path}?${query} ${JSON.stringify(body)}`).toBe(200);
  return body.data;
}

test('every list takes any limit, says how many it used, and sorts by its default when it does not know better', async () => {
  expect(paths.length).toBeGreaterThanOrEqual(9);
  for (const path of paths) {
    const plain = await list(path);
    expect(plain.items.length, path).toBeGreaterThan(0);
    expect(plain.items.length, path).toBeLessThanOrEqual(plain.count);
    const all = await list(path, 'limit=1000000');
    expect(all, path).toEqual({ ...plain, limit: 1000, items: all.items });
    expect(all.items.slice(0, plain.limit), path).toEqual(plain.items);
    expect(await list(path, 'limit=1'), path).toMatchObject({ limit: 1, items: [plain.items[0]] });
    for (const query of [
      'sortBy=nonsense',
      'sortBy=content&sortBy=',
      'limit=&offset=&sortBy=&sort=&requestType=&query=&name=',
    ]) {
      expect(await list(path, query), `${path} ${query}`).toEqual(plain);
    }
  }
});

test('every list can return only its count or only its items', async () => {
  for (const path of paths) {
    const { items, count, ...page } = await list(path);
    expect(await list(path, 'requestType=COUNT'), path).toEqual({ count, ...page });
    expect(await list(path, 'requestType=FETCH'), path).toEqual({ items, ...page });
  }
});

test('invalid parameters of lists are refused by name', async () => {
  for (const path of paths) {
    for (const [field, value] of [
      ['limit', '0'],
      ['limit', '-1'],
      ['limit', 'many'],
      ['offset', '-1'],
      ['sort', 'UP'],
      ['requestType', 'BOTH'],
    ]) {
      const { status, body } = await admin.send('GET', withQuery(path, `${field}=${value}`));
      const fields = Object.keys(body.validationErrorDetails?.fieldErrors ?? {});
      expect([status, fields], `${path} ${field}=${value}`).toEqual([400, [field]]);
    }
  }
});

test('a list can be sorted in the other direction', async () => {
  for (const path of paths) {
    const [up, down] = [await list(path, 'sort=ASC'), await list(path, 'sort=DESC')];
    if (up.count <= up.limit) expect(down.items, path).toEqual(up.items.toReversed());
  }
});

test('name selects what query selects, which takes precedence', async () => {
  for (const [path, known] of [
    ['/api/company/list', 'Kopanyi'],
    ['/api/company/admin/list', 'Huye'],
    ['/api/product/list', 'Tea'],
    ['/api/product/admin/list', 'Coffee'],
  ] as const) {
    const byName = await list(path, `name=${known.toLowerCase()}`);
    expect(byName.items.map(({ name }: { name: string }) => name)).toEqual([known]);
    expect(await list(path, `query=${known}`)).toEqual(byName);
    expect(await list(path, `query=${known}&name=nothing`)).toEqual(byName);
    expect((await list(path, 'name=nothing')).items).toEqual([]);
  }
});
