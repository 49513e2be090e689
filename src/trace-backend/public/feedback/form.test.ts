import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { labelFields } from '../../../../test/helpers/product-forms.ts';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
beforeAll(async () => {
  trace = await runningTrace({ TRUST_PROXY: 'true' });
  kopanyi = await tenant(trace, 'Kopanyi');
});
afterAll(() => trace.stop());

const PUBLIC = '/api/public/product/label';
const XSS = `"'><img src=x onerror="window.hacked=1"></textarea><script>alert(1)</script>`;
const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);

async function published(language = 'EN') {
  const settings = { businessToCustomerSettings: { tabFeedback: true } };
  const productId = await added(kopanyi.user, { name: 'Tea', ...settings });
  const sent = { productId, title: 'Tea', language, fields: labelFields(['name']) };
  const { data: label } = (await send('POST', '/api/product/label/create', sent)).body;
  await send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  return label as { id: number; uuid: string };
}

let address = 0;
/** Sends the form as a browser does, from an address of its own. */
const submit = (uuid: string, form: Record<string, string> | string, headers: Record<string, string> = {}) =>
  fetch(`${trace.url}${PUBLIC}/feedback/${uuid}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(form),
    headers: { accept: 'text/html,*/*;q=0.8', 'x-forwarded-for': `198.51.100.${++address}`, ...headers },
  });
const stored = async (uuid: string) =>
  (await send('GET', `${PUBLIC}/feedback/list/${uuid}?sort=ASC`)).body.data.items;

test('the form of the page is stored as what a program sends, and leads back to the page, which thanks', async () => {
  const { id: labelId, uuid } = await published('FR');
  const form = { type: 'PRAISE', feedback: `${XSS}\r\nTwo`, email: 'joy@example.org', gdprConsent: 'true' };
  const answer = await submit(uuid, { ...form, labelId: '1', questionnaireAnswers: 'x' });
  const to = `../${uuid}?feedback=sent#answer`;
  expect([answer.status, answer.headers.get('location')]).toEqual([303, to]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const [item] = await stored(uuid);
  const { id: _, at: _at, ...rest } = item;
  expect(rest).toEqual({
    ...{ labelId, productName: 'Tea', type: 'PRAISE', feedback: `${XSS}\nTwo`, email: 'joy@example.org' },
    ...{ gdprConsent: true, questionnaireAnswers: {} },
  });
  const page = await fetch(new URL(to, answer.url), { headers: { accept: 'text/html' } });
  expect(await page.text()).toContain('Merci. Le producteur peut lire votre message.');

  const program = await submit(uuid, { feedback: 'Nice' }, { accept: 'application/json' });
  expect([program.status, await program.json()]).toEqual([200, { status: 'OK' }]);
  const long = await submit(uuid, { feedback: 'ሀ'.repeat(4000) });
  expect(long.status).toBe(303);
  expect((await submit(uuid, { feedback: 'ሀ'.repeat(8000) })).status).toBe(413);
});

test('what is wrong is said at its field, with what was typed, escaped; nothing is stored', async () => {
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
    expect(text).toContain('Das wurde nicht gesendet.');
    expect(text).not.toMatch(/<img src=x|<script/);
    if (form.feedback) expect(text).toContain('&#34;&#39;&#62;&#60;img src=x');
    if (form.type === 'COMPLAINT') expect(text).toContain('<option value="COMPLAINT" selected>');
    if (form.email === email) expect(text).toContain(`value="${email}"`);
  }
  expect((await submit(uuid, 'feedback=%00')).status).toBe(400);
  expect(await stored(uuid)).toEqual([]);
});

test('page and API have one limit of feedback; pages of other origins cannot send the form', async () => {
  const { id, uuid } = await published();
  const one = { 'x-forwarded-for': '203.0.113.1' };
  for (let n = 0; n < 10; n++) {
    expect((await submit(uuid, { feedback: 'Nice' }, one)).status).toBe(303);
    expect((await trace.send('POST', `${PUBLIC}/feedback/${uuid}`, { feedback: 'Nice' }, one)).status).toBe(
      200,
    );
  }
  const more = await submit(uuid, { feedback: 'Nice' }, one);
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
  expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining('Nothing is here')]);
});
