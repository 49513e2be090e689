import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, companyOf, read, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { downloadFile, picture, uploadFile } from '../../../../../test/helpers/images.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let grower: Tenant;
let buyer: Tenant;
let trader: Tenant;
let system: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  grower = await tenant(trace, 'Grower');
  buyer = await tenant(trace, 'Buyer');
  trader = await tenant(trace, 'Trader');
  system = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

const as = ({ companyId }: Tenant, type: string) => ({ company: { id: companyId }, type });
/** A product of the grower with both partners. */
const shared = (more: object = {}) =>
  added(grower.user, {
    name: 'Washed Bourbon',
    associatedCompanies: [as(buyer, 'BUYER'), as(trader, 'TRADER'), as(buyer, 'ROASTER')],
    ...more,
  });
const leave = (user: LoggedIn, id: number, companyId: number | string) =>
  user.send('DELETE', `/api/product/${id}/company/${companyId}`);
const status = async (user: LoggedIn, id: number) => (await user.send('GET', `/api/product/${id}`)).status;

test('an associated company removes itself from a product, with all its roles, and no other company', async () => {
  const id = await shared();
  const tag = (await grower.user.send('GET', `/api/product/${id}`)).headers.get('etag');
  expect((await leave(buyer.user, id, buyer.companyId)).body).toEqual({ status: 'OK' });
  expect(await status(buyer.user, id)).toBe(404);
  expect((await buyer.user.send('GET', '/api/product/list')).text).not.toContain('Washed Bourbon');
  expect(await status(trader.user, id)).toBe(200);
  expect((await read(grower.user, id)).associatedCompanies).toEqual([
    { company: { id: trader.companyId, name: 'Trader' }, type: 'TRADER' },
    { company: { id: grower.companyId, name: 'Grower' }, type: 'OWNER' },
  ]);
  expect((await grower.user.send('GET', `/api/product/${id}`)).headers.get('etag')).not.toBe(tag);

  const { body } = await system.send('GET', `/api/audit/list?entity=product&entityId=${id}&limit=1`);
  expect(body.data.items[0]).toMatchObject({
    action: 'LEAVE_PRODUCT',
    userId: buyer.user.id,
    details: { companyId: buyer.companyId },
  });
  const history = (await grower.user.send('GET', `/api/product/${id}/history?limit=1`)).body.data.items[0];
  expect(history).toMatchObject({ path: 'associatedCompanies', user: { id: buyer.user.id } });
});

test('a partner cannot remove another company or the owner', async () => {
  const id = await shared();
  const before = await read(grower.user, id);
  const stranger = await trace.loggedIn();
  const regional = await trace.loggedIn('REGIONAL_ADMIN');
  expect((await leave(buyer.user, id, trader.companyId)).status).toBe(403);
  expect((await leave(buyer.user, id, grower.companyId)).status).toBe(403);
  expect((await leave(regional, id, buyer.companyId)).status).toBe(403);
  expect((await leave(grower.user, id, grower.companyId)).status).toBe(400);
  expect((await leave(system, id, grower.companyId)).status).toBe(400);
  for (const companyId of [999_999, 'x', '0', (await tenant(trace, 'Other')).companyId]) {
    expect((await leave(grower.user, id, companyId)).body.status, String(companyId)).toBe('NOT_FOUND');
  }
  const unknown = await leave(stranger, 999_999, buyer.companyId);
  for (const companyId of [buyer.companyId, grower.companyId, 999_999]) {
    const answer = await leave(stranger, id, companyId);
    expect([answer.status, answer.text]).toEqual([404, unknown.text]);
  }
  expect(await read(grower.user, id)).toEqual(before);
  // Members of the owner, who may change the product, can remove a partner, too.
  expect((await leave(grower.user, id, buyer.companyId)).status).toBe(200);
  expect((await leave(system, id, trader.companyId)).status).toBe(200);
  expect((await leave(trader.user, id, trader.companyId)).status).toBe(404);
});

test('a member of two partners removes only the named company', async () => {
  const both = await trace.loggedIn();
  const [one, other] = [await companyOf(trace, 'One', [both]), await companyOf(trace, 'Other', [both])];
  const id = await added(grower.user, {
    name: 'Shared',
    associatedCompanies: [one, other].map(company => ({ company: { id: company }, type: 'BUYER' })),
  });
  expect((await leave(both, id, one)).status).toBe(200);
  expect(await status(both, id)).toBe(200);
  expect((await leave(both, id, other)).status).toBe(200);
  expect(await status(both, id)).toBe(404);
});

test('a company that has left a product comes back only with the consent of its members', async () => {
  const allow = (user: LoggedIn, id: number, companyId: number | string = buyer.companyId) =>
    user.send('POST', `/api/product/${id}/company/${companyId}/allow`);
  const add = (user: LoggedIn, id: number, more: object = {}) =>
    user.send('PUT', '/api/product', {
      id,
      associatedCompanies: [as(trader, 'TRADER'), as(buyer, 'BUYER')],
      ...more,
    });
  const refusal = async (answer: ReturnType<typeof add>) => {
    const { status, body } = await answer;
    return [status, Object.keys(body.validationErrorDetails?.fieldErrors ?? {})];
  };
  const id = await shared();
  const unknown = (await allow(buyer.user, 2_000_000)).text;
  // Nobody has left yet.
  expect((await allow(buyer.user, id)).text).toBe(unknown);
  await leave(buyer.user, id, buyer.companyId);
  const path = 'associatedCompanies.1.company.id';
  for (const user of [grower.user, system]) {
    expect(await refusal(add(user, id))).toEqual([400, [path]]);
    const body = { associatedCompanies: as(buyer, 'BUYER') };
    expect(await refusal(add(user, id, body))).toEqual([400, ['associatedCompanies.company.id']]);
  }
  expect((await add(grower.user, id)).body.validationErrorDetails.fieldErrors[path]).toContain(
    `POST /api/product/${id}/company/${buyer.companyId}/allow`,
  );
  expect(await refusal(system.send('PUT', '/api/product', { id, company: { id: buyer.companyId } }))).toEqual(
    [400, ['company.id']],
  );
  expect((await read(grower.user, id)).associatedCompanies).toHaveLength(2);

  // Only members can allow it, for their own company; that does not let them see the product.
  for (const [user, companyId] of [
    [grower.user, buyer.companyId],
    [trader.user, buyer.companyId],
    [system, buyer.companyId],
    [buyer.user, trader.companyId],
    [buyer.user, 'x'],
  ] as const) {
    const { status: code, text } = await allow(user, id, companyId);
    expect([code, text]).toEqual([404, unknown]);
  }
  expect((await allow(buyer.user, id)).body).toEqual({ status: 'OK' });
  expect((await allow(buyer.user, id)).text).toBe(unknown);
  expect(await status(buyer.user, id)).toBe(404);
  expect((await add(grower.user, id)).status).toBe(200);
  expect(await status(buyer.user, id)).toBe(200);
  const { body } = await system.send(
    'GET',
    `/api/audit/list?entity=product&entityId=${id}&action=ALLOW_PRODUCT`,
  );
  expect(body.data.items).toMatchObject([{ userId: buyer.user.id, details: { companyId: buyer.companyId } }]);

  // A member of both companies can add theirs back at once. A company removed by others has not left.
  await leave(buyer.user, id, buyer.companyId);
  const both = await trace.loggedIn();
  for (const { companyId } of [grower, buyer]) {
    await trace.pool.query(
      "INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, 'MANAGER')",
      [companyId, both.id],
    );
  }
  expect((await add(both, id)).status).toBe(200);
  await leave(grower.user, id, buyer.companyId);
  expect((await add(grower.user, id)).status).toBe(200);
});

test('a merge moves the departures of a company', async () => {
  const [small, large] = [await tenant(trace, 'Small'), await tenant(trace, 'Large')];
  const named = (name: string, ...partners: Tenant[]) =>
    added(grower.user, { name, associatedCompanies: partners.map(partner => as(partner, 'BUYER')) });
  const [left, kept] = [await named('Left', small), await named('Kept', small, large)];
  await leave(small.user, left, small.companyId);
  await leave(small.user, kept, small.companyId);
  const merge = { companyId: small.companyId, otherCompanyId: large.companyId };
  expect((await system.send('POST', '/api/company/execute/MERGE_TO_COMPANY', merge)).status).toBe(200);
  const add = (id: number) =>
    grower.user.send('PUT', '/api/product', { id, associatedCompanies: [as(large, 'TRADER')] });
  expect((await add(left)).status).toBe(400);
  expect((await add(kept)).status).toBe(200);
  expect(
    (await large.user.send('POST', `/api/product/${left}/company/${large.companyId}/allow`)).status,
  ).toBe(200);
  expect((await add(left)).status).toBe(200);
});

test('only the company that owns a product is its OWNER', async () => {
  const create = (user: LoggedIn, body: object) =>
    user.send('POST', '/api/product/create', { name: 'Tea', ...body });
  const wrong = async (answer: ReturnType<typeof create>) => {
    const { status: code, body } = await answer;
    return [code, Object.keys(body.validationErrorDetails?.fieldErrors ?? {})];
  };
  const partners = [as(trader, 'TRADER'), as(buyer, 'OWNER')];
  const refused = [400, ['associatedCompanies.1.type']];
  expect(await wrong(create(grower.user, { associatedCompanies: partners }))).toEqual(refused);
  const alone = await trace.loggedIn();
  expect(await wrong(create(alone, { associatedCompanies: as(buyer, 'OWNER') }))).toEqual([
    400,
    ['associatedCompanies.type'],
  ]);
  const id = await shared();
  for (const user of [grower.user, system]) {
    const change = user.send('PUT', '/api/product', { id, associatedCompanies: partners });
    expect(await wrong(change)).toEqual(refused);
  }
  // After a move with the list that was read, the previous owner is no longer the OWNER.
  const second = await companyOf(trace, 'Second', [grower.user]);
  const { associatedCompanies } = await read(grower.user, id);
  const moved = { id, company: { id: second }, associatedCompanies };
  expect((await grower.user.send('PUT', '/api/product', moved)).status).toBe(200);
  const owners = (await read(grower.user, id)).associatedCompanies.filter(
    ({ type }: { type: string }) => type === 'OWNER',
  );
  expect(owners).toMatchObject([{ company: { id: second } }]);
});

test('a former partner can no longer read the pictures and documents of a product, however the partnership ended', async () => {
  const png = await picture(9, 9).png().toBuffer();
  const upload = async (kind: 'image' | 'document', by = grower.user) =>
    (await uploadFile(trace, by, kind, png)).body.data.storageKey as string;
  const [photo, paper] = [await upload('image'), await upload('document')];
  const id = await shared({
    photo: { storageKey: photo },
    settings: { incomeIncreaseDocument: { storageKey: paper } },
  });
  const own = await upload('image', buyer.user);
  const seen = async (user: LoggedIn) => {
    const paths = [`image/${photo}`, `image/${photo}/SMALL`, `document/${paper}`];
    return Promise.all(paths.map(async path => (await downloadFile(trace, user, path)).status));
  };
  expect([await seen(buyer.user), await seen(trader.user)]).toEqual([
    [200, 200, 200],
    [200, 200, 200],
  ]);

  // They cannot reuse files that they can read only through the product.
  const attempts: [object, string][] = [
    [{ photo: { storageKey: photo } }, 'photo.storageKey'],
    [
      { settings: { incomeIncreaseDocument: { storageKey: photo } } },
      'settings.incomeIncreaseDocument.storageKey',
    ],
    [
      { settings: { incomeIncreaseDocument: { storageKey: paper } } },
      'settings.incomeIncreaseDocument.storageKey',
    ],
  ];
  for (const [body, field] of attempts) {
    const { status, body: answer } = await buyer.user.send('POST', '/api/product/create', {
      name: 'Mine',
      ...body,
    });
    expect([status, Object.keys(answer.validationErrorDetails.fieldErrors)]).toEqual([400, [field]]);
  }
  const asLogo = { id: buyer.companyId, logo: { storageKey: photo } };
  expect((await buyer.user.send('PUT', '/api/company/profile', asLogo)).status).toBe(400);

  await leave(buyer.user, id, buyer.companyId);
  await grower.user.send('PUT', '/api/product', { id, associatedCompanies: [] });
  expect([await seen(buyer.user), await seen(trader.user)]).toEqual([
    [404, 404, 404],
    [404, 404, 404],
  ]);
  expect(await seen(grower.user)).toEqual([200, 200, 200]);
  expect((await downloadFile(trace, buyer.user, `image/${own}`)).status).toBe(200);
});

test('members of a company can reuse pictures that other members uploaded', async () => {
  const colleague = await trace.loggedIn();
  const outsider = await trace.loggedIn();
  const regional = await trace.loggedIn('REGIONAL_ADMIN');
  const companyId = await companyOf(trace, 'Kopanyi', [grower.user, colleague]);
  const png = await picture(9, 9).png().toBuffer();
  const upload = async () =>
    (await uploadFile(trace, colleague, 'image', png)).body.data.storageKey as string;
  const [photo, logo, alone] = [await upload(), await upload(), await upload()];
  const company = { id: companyId };
  await added(colleague, { name: 'First', company, photo: { storageKey: photo } });
  await colleague.send('PUT', '/api/company/profile', { id: companyId, logo: { storageKey: logo } });
  await added(grower.user, { name: 'Second', company, photo: { storageKey: photo } });
  await added(grower.user, { name: 'Third', company, photo: { storageKey: logo } });
  const create = (by: LoggedIn, storageKey: string) =>
    by.send('POST', '/api/product/create', { name: 'Tea', company, photo: { storageKey } });
  expect((await create(grower.user, alone)).status).toBe(400);
  for (const by of [outsider, regional]) {
    for (const storageKey of [photo, logo]) {
      const body = { name: 'Tea', photo: { storageKey } };
      expect((await by.send('POST', '/api/product/create', body)).status).toBe(400);
    }
  }
});
