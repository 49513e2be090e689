import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let roastery: Tenant;
beforeAll(async () => {
  trace = await runningTrace({ TRUST_PROXY: 'true' });
  kopanyi = await tenant(trace, 'Kopanyi');
  roastery = await tenant(trace, 'Roastery');
});
afterAll(() => trace.stop());

const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);
const PATH = '/api/public/product/label/feedback';

async function labelled() {
  const partner = { company: { id: roastery.companyId }, type: 'ROASTER' };
  const productId = await added(kopanyi.user, { name: 'Tea', associatedCompanies: [partner] });
  const { data: label } = (await send('POST', '/api/product/label/create', { productId })).body;
  await send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  return { productId, label };
}

let address = 0;
/** A consumer with an address of their own. */
const write = (uuid: string, body: object, ip = `192.0.2.${++address}`) =>
  trace.send('POST', `${PATH}/${uuid}`, body, { 'x-forwarded-for': ip });

/** The form of the front end. */
const form = (more: object = {}) => ({
  ...{ id: null, labelId: null, type: null, email: null, feedback: 'Nice', gdprConsent: true },
  ...{ privacyPolicyConsent: null, termsOfUseConsent: null, productName: null },
  questionnaireAnswers: { rateTaste: 'Better', howDoYouPrepare: null, age: null, gender: 'Male' },
  ...more,
});

test('feedback is unseen for the company that owns the product until one of its members has seen it', async () => {
  const { label } = await labelled();
  const unseen = async (who: { send: typeof send }) =>
    (await who.send('GET', '/api/product/label/feedback/unseen')).body.data;
  const seen = (who: { send: typeof send }) =>
    who.send('POST', `/api/product/label/${label.id}/feedback/seen`);
  expect(await unseen(kopanyi.user)).toEqual([]);
  await write(label.uuid, form());
  await write(label.uuid, form());
  const stranger = await trace.loggedIn();
  const admin = await trace.loggedIn('SYSTEM_ADMIN');
  const announced = [{ labelId: label.id, productName: 'Tea', count: 2 }];
  expect(await unseen(kopanyi.user)).toEqual(announced);
  // A partner only reads the product, and administrators look after everybody's.
  for (const other of [roastery.user, stranger, admin]) expect(await unseen(other)).toEqual([]);
  expect((await seen(roastery.user)).status).toBe(403);
  expect((await seen(stranger)).status).toBe(404);
  expect(await unseen(kopanyi.user)).toEqual(announced);
  expect((await seen(kopanyi.user)).body).toEqual({ status: 'OK' });
  expect(await unseen(kopanyi.user)).toEqual([]);
  await write(label.uuid, form());
  expect(await unseen(kopanyi.user)).toMatchObject([{ count: 1 }]);
  await seen(kopanyi.user);
});

test('consumers write without a login; the owner reads everything, others only type and text', async () => {
  const { label, productId } = await labelled();
  expect((await write(label.uuid, form())).body).toEqual({ status: 'OK' });
  await write(label.uuid, form({ type: 'COMPLAINT', feedback: 'Bitter', email: 'Joy@Example.org' }));
  const list = `${PATH}/list/${label.uuid}?limit=10&offset=0&sortBy=email&sort=ASC`;
  const own = (await send('GET', list)).body.data;
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const common = { labelId: label.id, gdprConsent: true, productName: 'Tea', at };
  const answers = { rateTaste: 'Better', gender: 'Male' };
  expect(own.items).toEqual([
    {
      ...common,
      id: expect.any(Number),
      ...{ type: 'COMPLAINT', feedback: 'Bitter', email: 'Joy@Example.org', questionnaireAnswers: answers },
    },
    { ...common, id: expect.any(Number), feedback: 'Nice', questionnaireAnswers: answers },
  ]);
  expect((await send('GET', `${PATH}/list/${label.uuid}?requestType=COUNT`)).body.data.count).toBe(2);
  expect((await send('GET', `${PATH}/list/${label.uuid}?type=COMPLAINT`)).body.data.count).toBe(1);

  for (const answer of [await trace.send('GET', list), await roastery.user.send('GET', list)]) {
    expect(answer.body.data.items).toEqual([
      { id: own.items[1].id, labelId: label.id, feedback: 'Nice' },
      { id: own.items[0].id, labelId: label.id, type: 'COMPLAINT', feedback: 'Bitter' },
    ]);
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
  }

  const path = `/api/product/label/feedback/${own.items[0].id}`;
  expect((await roastery.user.send('DELETE', path)).status).toBe(403);
  expect((await (await trace.loggedIn()).send('DELETE', path)).status).toBe(404);
  expect((await send('DELETE', path)).status).toBe(200);
  expect((await send('DELETE', path)).status).toBe(404);
  const { rows } = await trace.pool.query(
    "SELECT action, user_id, address FROM audit WHERE entity = 'product' AND entity_id = $1 AND action LIKE '%FEEDBACK' ORDER BY id",
    [String(productId)],
  );
  expect(rows).toEqual([
    { action: 'ADD_LABEL_FEEDBACK', user_id: null, address: '' },
    { action: 'ADD_LABEL_FEEDBACK', user_id: null, address: '' },
    { action: 'DELETE_LABEL_FEEDBACK', user_id: kopanyi.user.id, address: expect.any(String) },
  ]);

  await send('POST', '/api/product/label/execute/UNPUBLISH_LABEL', { id: label.id });
  expect((await write(label.uuid, form())).status).toBe(404);
  expect((await trace.send('GET', list)).status).toBe(404);
  expect((await send('GET', list)).status).toBe(200);
});

test('feedback has bounds: length, fields, consent, an hour of an address, a day and all of a label', async () => {
  const { label } = await labelled();
  const wrong: [object, string][] = [
    [form({ feedback: 'x'.repeat(4001) }), 'feedback'],
    [form({ type: 'RANT' }), 'type'],
    [form({ email: 'nobody' }), 'email'],
    [form({ email: 'joy@example.org', gdprConsent: null }), 'gdprConsent'],
    [form({ feedback: ' ', questionnaireAnswers: null }), 'feedback'],
    [form({ questionnaireAnswers: { age: 5 } }), 'questionnaireAnswers.age'],
  ];
  for (const [body, field] of wrong) {
    const answer = await write(label.uuid, body);
    expect([answer.status, Object.keys(answer.body.validationErrorDetails.fieldErrors)]).toEqual([
      400,
      [field],
    ]);
  }
  for (let n = 0; n < 20; n++) expect((await write(label.uuid, form(), '198.51.100.1')).status).toBe(200);
  const more = await write(label.uuid, form(), '198.51.100.1');
  expect([more.status, Number(more.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);

  const fill = (count: number, at: string) =>
    trace.pool.query(
      `INSERT INTO label_feedback (label_id, feedback, answers, at)
       SELECT $1, 'x', '{}', ${at} FROM generate_series(1, $2)`,
      [label.id, count],
    );
  await fill(480, 'now()');
  expect((await write(label.uuid, form())).status).toBe(429);
  await trace.pool.query("UPDATE label_feedback SET at = now() - interval '2 days'");
  expect((await write(label.uuid, form())).status).toBe(200);
  await fill(10_000, "now() - interval '2 days'");
  expect((await write(label.uuid, form())).status).toBe(400);
});
