import { afterAll, beforeAll, expect, test } from 'vitest';
import { companyOf } from '../../../../test/helpers/chain.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { CODE_LISTS, type CodeList } from '../codes/lists.ts';

const PATH = '/api/chain/value-chain';
const { facilityTypes, measureUnitTypes, processingEvidenceTypes } = CODE_LISTS;
const { processingEvidenceFields, semiProducts, productTypes } = CODE_LISTS;

let trace: RunningTrace;
let admin: LoggedIn;
let user: LoggedIn;
/** One code of each list, by the path of the list. */
const code = new Map<CodeList, number>();
const idOf = (list: CodeList) => code.get(list) as number;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  user = await trace.loggedIn();
  code.set(facilityTypes, await add(facilityTypes, { code: 'WASHING_STATION', label: 'Washing station' }));
  code.set(measureUnitTypes, await add(measureUnitTypes, { code: 'KG', label: 'kg', weight: '1' }));
  const note = { code: 'DELIVERY_NOTE', translations: [{ language: 'EN', label: 'Delivery note' }] };
  code.set(processingEvidenceTypes, await add(processingEvidenceTypes, { ...note, type: 'DOCUMENT' }));
  const moisture = [
    { language: 'EN', label: 'Moisture' },
    { language: 'DE', label: 'Feuchte' },
  ];
  code.set(
    processingEvidenceFields,
    await add(processingEvidenceFields, { fieldName: 'MOISTURE', translations: moisture }),
  );
  const measurementUnitType = { id: idOf(measureUnitTypes) };
  code.set(semiProducts, await add(semiProducts, { name: 'Cherry', buyable: true, measurementUnitType }));
  code.set(productTypes, await add(productTypes, { code: 'COFFEE', name: 'Coffee' }));
});
afterAll(() => trace.stop());

async function add(list: CodeList, body: object): Promise<number> {
  const {
    status,
    body: answer,
    text,
  } = await admin.send(list === productTypes ? 'POST' : 'PUT', list.path, body);
  expect(status, text).toBe(200);
  return answer.data.id;
}

async function save(body: object, by = admin): Promise<number> {
  const { status, body: answer, text } = await by.send('PUT', PATH, body);
  expect(status, text).toBe(200);
  return answer.data.id;
}

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
async function got(path: string, headers = {}, by = user): Promise<any> {
  const { status, body, text } = await by.send('GET', path, undefined, headers);
  expect(status, `${path} ${text}`).toBe(200);
  return body.data;
}
const idsOf = ({ items }: { items: { id: number }[] }) => items.map(({ id }) => id).sort((a, b) => a - b);

/** A value chain as the public front end sends it. */
const sent = () => ({
  id: null,
  name: 'Coffee Rwanda',
  description: 'From cherry to cup',
  valueChainStatus: null,
  facilityTypes: [{ id: idOf(facilityTypes), code: 'WASHING_STATION', label: 'Washing station' }],
  measureUnitTypes: [
    {
      id: idOf(measureUnitTypes),
      code: 'KG',
      label: 'kg',
      weight: null,
      underlyingMeasurementUnitType: null,
    },
  ],
  processingEvidenceTypes: [
    {
      id: idOf(processingEvidenceTypes),
      code: 'DELIVERY_NOTE',
      label: 'Delivery note',
      type: 'DOCUMENT',
      fairness: null,
      provenance: null,
      quality: null,
      mandatory: null,
      requiredOnQuote: null,
      requiredOneOfGroupIdForQuote: null,
      translations: [],
    },
  ],
  processingEvidenceFields: [{ id: idOf(processingEvidenceFields), fieldName: 'MOISTURE', translations: [] }],
  semiProducts: [{ id: idOf(semiProducts), name: 'Cherry', translations: [] }],
  productType: { id: String(idOf(productTypes)), code: 'COFFEE', translations: [] },
});

test('a value chain sent by the public front end comes back with its codes', async () => {
  const id = await save(sent());
  expect(await got(`${PATH}/${id}`, { language: 'DE' })).toEqual({
    id,
    name: 'Coffee Rwanda',
    description: 'From cherry to cup',
    valueChainStatus: 'ENABLED',
    facilityTypes: [{ id: idOf(facilityTypes), code: 'WASHING_STATION', label: 'Washing station' }],
    measureUnitTypes: [{ id: idOf(measureUnitTypes), code: 'KG', label: 'kg', weight: 1 }],
    processingEvidenceTypes: [
      { id: idOf(processingEvidenceTypes), code: 'DELIVERY_NOTE', label: 'Delivery note', type: 'DOCUMENT' },
    ],
    processingEvidenceFields: [
      { id: idOf(processingEvidenceFields), fieldName: 'MOISTURE', label: 'Feuchte' },
    ],
    semiProducts: [
      {
        id: idOf(semiProducts),
        name: 'Cherry',
        buyable: true,
        measurementUnitType: { id: idOf(measureUnitTypes), code: 'KG', label: 'kg', weight: 1 },
      },
    ],
    productType: { id: idOf(productTypes), code: 'COFFEE', name: 'Coffee' },
  });
});

test('a change replaces the sent lists and keeps the others', async () => {
  const id = await save(sent());
  const store = await add(facilityTypes, { code: 'STORE', label: 'Store' });
  const order = [{ id: store }, { id: idOf(facilityTypes) }, { id: store }];
  await save({ id, facilityTypes: order, semiProducts: [], description: '' });
  const changed = await got(`${PATH}/${id}`);
  expect(changed.facilityTypes.map((each: { id: number }) => each.id)).toEqual([store, idOf(facilityTypes)]);
  expect([changed.semiProducts, changed.description]).toEqual([[], undefined]);
  expect(changed.measureUnitTypes).toHaveLength(1);
  expect(changed.name).toBe('Coffee Rwanda');
});

test('lists are filtered by part of the name, status and product type, and sorted by name', async () => {
  const type = await add(productTypes, { code: 'COCOA', name: 'Cocoa' });
  const productType = { id: type };
  const ids = {
    ghana: await save({ name: 'Cocoa Ghana', productType }),
    benin: await save({ name: 'cocoa Bénin', productType }),
    off: await save({ name: 'Cocoa elsewhere', productType }),
  };
  await admin.send('POST', `${PATH}/${ids.off}/disable`);
  const list = (query: string) => got(`${PATH}/list?${query}`);
  const queries = [
    [`productTypeId=${type}`, [ids.ghana, ids.benin, ids.off]],
    [`name=COCOA&valueChainStatus=ENABLED&requestType=FETCH&limit=1000`, [ids.ghana, ids.benin]],
    [`productTypeId=${type}&valueChainStatus=DISABLED`, [ids.off]],
    ['query=b%C3%89n', [ids.benin]],
    ['productTypeId=999999', []],
  ] as const;
  for (const [query, found] of queries) expect(idsOf(await list(query)), query).toEqual(found);
  const { items, count } = await list(`productTypeId=${type}&limit=2&offset=0&sortBy=name&sort=ASC`);
  expect(count).toBe(3);
  expect(items).toEqual([
    {
      id: ids.benin,
      name: 'cocoa Bénin',
      valueChainStatus: 'ENABLED',
      productType: { id: type, code: 'COCOA', name: 'Cocoa' },
    },
    expect.objectContaining({ id: ids.off, valueChainStatus: 'DISABLED' }),
  ]);
});

test('every user reads value chains, administrators add them, only a SYSTEM_ADMIN changes them', async () => {
  const regional = await trace.loggedIn('REGIONAL_ADMIN');
  expect((await user.send('PUT', PATH, { name: 'Tea' })).status).toBe(403);
  const id = await save({ name: 'Tea' }, regional);
  for (const who of [user, regional]) {
    for (const [method, path, body] of [
      ['PUT', PATH, { id, name: 'Other' }],
      ['POST', `${PATH}/${id}/disable`],
      ['POST', `${PATH}/${id}/enable`],
      ['DELETE', `${PATH}/${id}`],
    ] as const) {
      expect((await who.send(method, path, body)).status, `${method} ${path}`).toBe(403);
    }
  }
  expect((await admin.send('POST', `${PATH}/${id}/disable`)).body).toEqual({ status: 'OK', data: { id } });
  const { body } = await admin.send('PUT', PATH, { id, name: 'Other' });
  expect(body).toEqual({ status: 'INVALID_REQUEST', errorMessage: 'the value chain is disabled' });
  await admin.send('POST', `${PATH}/${id}/disable`);
  await admin.send('POST', `${PATH}/${id}/enable`);
  await save({ id, name: 'Green tea' });
  await save({ id, name: 'Green tea' });
  expect((await admin.send('DELETE', `${PATH}/${id}`)).status).toBe(200);
  expect((await user.send('GET', `${PATH}/${id}`)).status).toBe(404);
  const { body: audit } = await admin.send(
    'GET',
    `/api/audit/list?entity=value-chain&entityId=${id}&sort=ASC`,
  );
  expect(
    audit.data.items.map(({ action, details }: { action: string; details: object }) => [action, details]),
  ).toEqual([
    ['CREATE_VALUE_CHAIN', { name: 'Tea' }],
    ['DISABLE_VALUE_CHAIN', {}],
    ['ENABLE_VALUE_CHAIN', {}],
    ['UPDATE_VALUE_CHAIN', { fields: ['name'] }],
    ['DELETE_VALUE_CHAIN', { name: 'Green tea' }],
  ]);
});

test('unknown references are refused by name, and nothing is stored', async () => {
  const unknown = [{ id: idOf(facilityTypes) }, { id: 999_999 }];
  for (const [body, field] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'x', facilityTypes: unknown }, 'facilityTypes.1.id'],
    [{ name: 'x', measureUnitTypes: [{}] }, 'measureUnitTypes.0.id'],
    [{ name: 'x', processingEvidenceTypes: [{ id: 999_999 }] }, 'processingEvidenceTypes.0.id'],
    [{ name: 'x', processingEvidenceFields: [{ id: 'x' }] }, 'processingEvidenceFields.0.id'],
    [{ name: 'x', semiProducts: Array.from({ length: 1001 }, () => ({ id: 1 })) }, 'semiProducts'],
    [{ name: 'x', productType: { id: 999_999 } }, 'productType.id'],
  ] as const) {
    const { status, body: answer } = await admin.send('PUT', PATH, body);
    const fields = Object.keys(answer.validationErrorDetails?.fieldErrors ?? {});
    expect([status, fields], JSON.stringify(answer)).toEqual([400, [field]]);
  }
  expect((await got(`${PATH}/list?name=x`)).items).toEqual([]);
  for (const [method, path, body] of [
    ['PUT', PATH, { id: 999_999, name: 'x' }],
    ['POST', `${PATH}/999999/enable`],
    ['DELETE', `${PATH}/x`],
  ] as const) {
    expect((await admin.send(method, path, body)).status, `${method} ${path}`).toBe(404);
  }
});

test('a code that a value chain uses is not deleted, and the error names the value chain', async () => {
  const id = await save({ ...sent(), name: 'Robusta' });
  for (const list of [
    facilityTypes,
    processingEvidenceTypes,
    processingEvidenceFields,
    semiProducts,
    productTypes,
  ]) {
    const { status, body } = await admin.send('DELETE', `${list.path}/${idOf(list)}`);
    expect([status, body.status]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.errorMessage).toMatch(/^the .* is in use by (the|\d+ of kind) value chain/);
  }
  const rare = await add(facilityTypes, { code: 'RARE', label: 'Rare' });
  await save({ id, facilityTypes: [{ id: rare }] });
  const { body } = await admin.send('DELETE', `${facilityTypes.path}/${rare}`);
  expect(body.errorMessage).toBe('the facility type is in use by the value chain "Robusta"');
  await admin.send('DELETE', `${PATH}/${id}`);
  expect((await admin.send('DELETE', `${facilityTypes.path}/${rare}`)).status).toBe(200);
});

test('the evidence and semi-products of one or several value chains are listed, each once', async () => {
  const other = await add(semiProducts, {
    translations: [
      { language: 'EN', name: 'Parchment' },
      { language: 'ES', name: 'Pergamino' },
    ],
  });
  const first = await save(sent());
  const two = await save({ name: 'Two', semiProducts: [{ id: other }, { id: idOf(semiProducts) }] });
  const path = `${semiProducts.path}/list/by-value-chains`;
  expect(idsOf(await got(`${path}?valueChainIds=${first}&limit=1000&offset=0`))).toEqual([
    idOf(semiProducts),
  ]);
  for (const query of [`valueChainIds=${first}&valueChainIds=${two}`, `valueChainIds=${first},${two}`]) {
    const page = await got(`${path}?${query}&sortBy=name&sort=ASC`, { language: 'ES' });
    expect(page.items.map(({ name }: { name: string }) => name)).toEqual(['Cherry', 'Pergamino']);
    expect(page.count).toBe(2);
  }
  expect((await got(`${path}?valueChainIds=999999`)).items).toEqual([]);
  expect((await user.send('GET', path)).status).toBe(400);
  for (const list of [processingEvidenceTypes, processingEvidenceFields]) {
    for (const rest of [`by-value-chains?valueChainIds=${first}`, `value-chain/${first}`]) {
      expect(idsOf(await got(`${list.path}/list/${rest}`)), rest).toEqual([idOf(list)]);
    }
    expect((await got(`${list.path}/list/value-chain/${two}`)).items).toEqual([]);
    expect((await user.send('GET', `${list.path}/list/value-chain/999999`)).status).toBe(404);
  }
});

test('only members of a company read its value chains and their product types', async () => {
  const [member, stranger] = [await trace.loggedIn(), await trace.loggedIn()];
  const companyId = await companyOf(trace, 'Kopanyi', [member]);
  await companyOf(trace, 'Another', [stranger]);
  const [one, two] = [await save({ ...sent(), name: 'One' }), await save({ name: 'Two' })];
  await trace.pool.query(
    'INSERT INTO company_value_chains (company_id, value_chain_id, position) VALUES ($1, $2, 1), ($1, $3, 2)',
    [companyId, one, two],
  );
  const chains = `/api/company/${companyId}/value-chains?limit=1000&offset=0`;
  const types = `/api/company/${companyId}/product-types?limit=1000&offset=0`;
  for (const who of [member, admin]) {
    const page = await got(chains, {}, who);
    expect([idsOf(page), page.count]).toEqual([[one, two], 2]);
    expect((await got(types, {}, who)).items).toEqual([
      expect.objectContaining({ id: idOf(productTypes), code: 'COFFEE', name: 'Coffee' }),
    ]);
  }
  for (const path of [chains, types]) {
    const { status, body } = await stranger.send('GET', path);
    expect([status, body.errorMessage]).toEqual([404, 'there is no such company']);
    expect((await member.send('GET', path.replace(String(companyId), '999999'))).body).toEqual(body);
  }
  const { body } = await admin.send('DELETE', `${PATH}/${one}`);
  expect(body.errorMessage).toBe('the value chain is in use by the company "Kopanyi"');
});

test('concurrent changes of a value chain are made one after the other', async () => {
  const id = await save({ name: 'Busy' });
  const types = await Promise.all(
    Array.from({ length: 4 }, (_, index) => add(facilityTypes, { code: `BUSY_${index}`, label: 'Busy' })),
  );
  const answers = await Promise.all(
    types.map(type =>
      admin.send('PUT', PATH, { id, facilityTypes: [{ id: type }, { id: idOf(facilityTypes) }] }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const { facilityTypes: last } = await got(`${PATH}/${id}`);
  expect(last).toHaveLength(2);
  expect(types).toContain(last[0].id);
});

test('the second writer of the same version of a value chain is refused, whatever each does', async () => {
  const id = await save({ name: 'Tea Rwanda' });
  const read = async () => {
    const { headers, body } = await user.send('GET', `${PATH}/${id}`);
    expect(body.data).not.toHaveProperty('version');
    return headers.get('etag') as string;
  };
  const writes = (n: number) => [
    ['PUT', PATH, { id, name: `Tea ${n}` }],
    ['PUT', PATH, { id, facilityTypes: n % 2 === 0 ? [] : [{ id: idOf(facilityTypes) }] }],
    ['POST', `${PATH}/${id}/disable`, undefined],
    ['POST', `${PATH}/${id}/enable`, undefined],
  ];
  type Write = [string, string, object | undefined];
  const send = ([method, path, body]: Write, tag: string) =>
    admin.send(method, path, body, { 'if-match': tag });
  for (const [index, write] of writes(1).entries()) {
    const tag = await read();
    expect(tag).toBe(`"${index + 1}"`);
    expect((await send(write as Write, tag)).status).toBe(200);
    for (const stale of writes(2)) expect((await send(stale as Write, tag)).status).toBe(412);
    expect((await send(['DELETE', `${PATH}/${id}`, undefined], tag)).status).toBe(412);
  }
  expect((await send(['DELETE', `${PATH}/${id}`, undefined], await read())).status).toBe(200);
});
