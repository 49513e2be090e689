import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { labelFields } from '../../../../test/helpers/product-forms.ts';
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
/** Sends feedback from a new client address. */
const write = (uuid: string, body: object, ip = `192.0.2.${++address}`) =>
  trace.send('POST', `${PATH}/${uuid}`, body, { 'x-forwarded-for': ip });

/** The form of the front end. */
const form = (more: object = {}) => ({
  id: null,
  labelId: null,
  type: null,
  email: null,
  feedback: 'Nice',
  gdprConsent: true,
  privacyPolicyConsent: null,
  termsOfUseConsent: null,
  productName: null,
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
  // Partners can only read the product, and administrators see unseen feedback of no company.
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
      type: 'COMPLAINT',
      feedback: 'Bitter',
      email: 'Joy@Example.org',
      questionnaireAnswers: answers,
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

test('feedback is limited by length, fields and consent, per address and hour, and per label', async () => {
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

const XSS = `"'><img src=x onerror="window.hacked=1"></textarea><script>alert(1)</script>`;

async function published(language = 'EN') {
  const settings = { businessToCustomerSettings: { tabFeedback: true } };
  const productId = await added(kopanyi.user, { name: 'Tea', ...settings });
  const label = { productId, title: 'Tea', language, fields: labelFields(['name']) };
  const { data } = (await send('POST', '/api/product/label/create', label)).body;
  await send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: data.id });
  return data as { id: number; uuid: string };
}

/** Sends the form like a browser, from a new client address. */
const submit = (uuid: string, form: Record<string, string> | string, headers: Record<string, string> = {}) =>
  fetch(`${trace.url}${PATH}/${uuid}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(form),
    headers: { accept: 'text/html,*/*;q=0.8', 'x-forwarded-for': `198.51.100.${++address}`, ...headers },
  });
const stored = async (uuid: string) => (await send('GET', `${PATH}/list/${uuid}?sort=ASC`)).body.data.items;

test('the form of the page is stored like JSON, and redirects to the page, which says thank you', async () => {
  const { id: labelId, uuid } = await published('FR');
  const sent = { type: 'PRAISE', feedback: `${XSS}\r\nTwo`, email: 'joy@example.org', gdprConsent: 'true' };
  const answer = await submit(uuid, { ...sent, labelId: '1', questionnaireAnswers: 'x' });
  const to = `../${uuid}?feedback=sent#answer`;
  expect([answer.status, answer.headers.get('location')]).toEqual([303, to]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const [item] = await stored(uuid);
  const { id: _, at: _at, ...rest } = item;
  expect(rest).toEqual({
    labelId,
    productName: 'Tea',
    type: 'PRAISE',
    feedback: `${XSS}\nTwo`,
    email: 'joy@example.org',
    gdprConsent: true,
    questionnaireAnswers: {},
  });
  const page = await fetch(new URL(to, answer.url), { headers: { accept: 'text/html' } });
  expect(await page.text()).toContain('Merci. Le producteur peut lire votre message.');

  const program = await submit(uuid, { feedback: 'Nice' }, { accept: 'application/json' });
  expect([program.status, await program.json()]).toEqual([200, { status: 'OK' }]);
  const long = await submit(uuid, { feedback: 'ሀ'.repeat(4000) });
  expect(long.status).toBe(303);
  expect((await submit(uuid, { feedback: 'ሀ'.repeat(8000) })).status).toBe(413);
});

test('errors are shown at their fields, with the sent values escaped, and nothing is stored', async () => {
  const { uuid } = await published('DE');
  const email = 'joy@example.org';
  const wrong: [Record<string, string>, string][] = [
    [{ type: 'RANT', feedback: XSS }, 'type'],
    [{ type: 'PRAISE', feedback: `${XSS}${'x'.repeat(4000)}` }, 'feedback'],
    [{ feedback: '' }, 'feedback'],
    [{ feedback: XSS, email: `${XSS}@` }, 'email'],
    [{ type: 'COMPLAINT', feedback: XSS, email }, 'gdprConsent'],
  ];
  for (const [form, field] of wrong) {
    const answer = await submit(uuid, form);
    const text = await answer.text();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(text.match(/name="(\w+)"[^>]* aria-invalid="true"/)?.[1]).toBe(field);
    expect(text).toContain('role="alert"');
    expect(text).toContain('Ihre Nachricht wurde nicht gesendet.');
    expect(text).not.toMatch(/<img src=x|<script/);
    if (form.feedback) expect(text).toContain('&#34;&#39;&#62;&#60;img src=x');
    if (form.type === 'COMPLAINT') expect(text).toContain('<option value="COMPLAINT" selected>');
    if (form.email === email) expect(text).toContain(`value="${email}"`);
  }
  expect((await submit(uuid, 'feedback=%00')).status).toBe(400);
  expect(await stored(uuid)).toEqual([]);
});

test('page and API share a limit of feedback; pages of other origins cannot send the form', async () => {
  const { id, uuid } = await published();
  const visitor = { 'x-forwarded-for': '203.0.113.1' };
  for (let n = 0; n < 10; n++) {
    expect((await submit(uuid, { feedback: 'Nice' }, visitor)).status).toBe(303);
    expect((await trace.send('POST', `${PATH}/${uuid}`, { feedback: 'Nice' }, visitor)).status).toBe(200);
  }
  const more = await submit(uuid, { feedback: 'Nice' }, visitor);
  expect([more.status, await more.text()]).toEqual([429, expect.stringContaining('too many requests')]);
  expect(await stored(uuid)).toHaveLength(20);
  for (const origin of ['https://elsewhere.example', 'null']) {
    expect((await submit(uuid, { feedback: 'Nice' }, { origin })).status).toBe(403);
  }

  await trace.pool.query(
    `INSERT INTO label_feedback (label_id, feedback, answers, at)
     SELECT $1, 'x', '{}', now() FROM generate_series(1, 480)`,
    [id],
  );
  const today = await submit(uuid, { feedback: XSS });
  expect([today.status, today.headers.get('retry-after')]).toEqual([429, '3600']);
  expect(await today.text()).toMatch(/Try again later.*&#60;img src=x/s);
  await send('POST', '/api/product/label/execute/UNPUBLISH_LABEL', { id });
  const gone = await submit(uuid, { feedback: 'Nice' });
  expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining('Page not found')]);
});
