import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { labelFields } from '../../../../../test/helpers/product-forms.ts';
import { type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
beforeAll(async () => {
  trace = await runningTrace({ TRUST_PROXY: 'true' });
  kopanyi = await tenant(trace, 'Kopanyi');
});
afterAll(() => trace.stop());

const PUBLIC = '/api/public/product/label';
const XSS = `"'><img src=x onerror="window.hacked=1"></textarea><script>alert(1)</script>`;
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
let address = 0;
/** Headers of a visitor's browser with a new client address. */
const visitor = () => ({ ...BROWSER, 'x-forwarded-for': `192.0.2.${++address}` });
const good = async (method: string, path: string, body: object) => {
  const answer = await kopanyi.user.send(method, path, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
};

async function published(settings: object = {}, language = 'EN') {
  const productId = await added(kopanyi.user, { name: 'Tea', businessToCustomerSettings: settings });
  const sent = { productId, title: 'Tea', language, fields: labelFields(['name']) };
  const label = await good('POST', '/api/product/label/create', sent);
  await good('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  return label as { id: number; uuid: string };
}
const batch = (labelId: number, number: string, more: object) =>
  good('POST', '/api/product/label_batch/create', { labelId, number, ...more });
const open = async (path: string, headers = visitor()) => {
  const answer = await trace.send('GET', `${PUBLIC}/${path}`, undefined, headers);
  return { ...answer, said: /<div class="answer"[^>]*>(.*?)<\/div>/s.exec(answer.text)?.[1] };
};
const counted = async ({ uuid }: { uuid: string }) => {
  const { data } = (await kopanyi.user.send('GET', `/api/product/label/analytics/${uuid}`)).body;
  return [data.visits, data.authTrue, data.authFalse, data.originTrue, data.originFalse];
};

test('the page has forms only if its label has batches and the feedback tab', async () => {
  const label = await published();
  const bare = await open(label.uuid);
  expect(bare.text).not.toContain('<form');
  expect(bare.headers.get('content-security-policy')).toContain("form-action 'none'");
  await batch(label.id, 'N', {});
  expect((await open(label.uuid)).text).not.toContain('<form');
  await batch(label.id, 'O', { traceOrigin: true });
  const traced = (await open(label.uuid)).text;
  expect(traced).toContain('Where is it from?');
  expect(traced).not.toMatch(/Is it authentic|type="date"|method="post"/);
  await batch(label.id, 'A', { checkAuthenticity: true });
  expect((await open(label.uuid)).text).toMatch(/Is it authentic.*Where is it from/s);
  expect((await open((await published({ tabFeedback: false })).uuid)).text).not.toContain('<form');
  const other = await open((await published({ tabFeedback: true })).uuid);
  expect(other.text).toContain('method="post"');
  expect(other.headers.get('content-security-policy')).toMatch(/form-action 'self'(?!.*unsafe)/);
  expect(other.headers.get('referrer-policy')).toBe('same-origin');
});

test('a package is checked like by the API: with its dates, in words, counted once, and not cached', async () => {
  const label = await published();
  const other = await published();
  const dates = { productionDate: '2026-03-01', expiryDate: '2999-03-01' };
  await batch(label.id, 'A', { ...dates, checkAuthenticity: true });
  await batch(label.id, 'E', { expiryDate: '2020-01-01', checkAuthenticity: true });
  await batch(other.id, 'Z', { checkAuthenticity: true });
  const check = (query: string, headers = visitor()) =>
    open(`${label.uuid}/verify_batch_authenticity?${query}`, headers);
  const ana = visitor();
  const right = await check('number=A&productionDate=2026-03-01&expiryDate=2999-03-01', ana);
  expect([right.status, right.said]).toEqual([200, expect.stringContaining('Confirmed')]);
  expect(right.said).not.toContain('passed');
  expect(right.headers.get('cache-control')).toBe('private, no-store');
  expect(right.headers.get('vary')).toBe('accept');
  expect(right.text).toContain('value="2999-03-01"');
  expect(right.text).toContain(`href="../${label.uuid}/qr.svg"`);
  await check('number=A&productionDate=2026-03-01&expiryDate=2999-03-01', ana);
  expect((await check('number=E&expiryDate=2020-01-01')).said).toMatch(/Confirmed.*expiry date has passed/);
  for (const wrong of ['number=A&productionDate=2026-03-01', 'number=A', 'number=Z', 'number=%20']) {
    expect((await check(wrong)).said, wrong).toContain('Not confirmed');
  }
  expect(await counted(label)).toEqual([0, 2, 4, 0, 0]);

  const none = await check('number=&expiryDate=2020-01-01');
  expect([none.status, none.said]).toEqual([400, undefined]);
  expect(none.text).toContain('Enter the batch number.');
  expect(none.text).toContain('value="2020-01-01"');
  expect(await counted(label)).toEqual([0, 2, 4, 0, 0]);
  expect(await counted(other)).toEqual([0, 0, 0, 0, 0]);
  const evil = await check(`number=${encodeURIComponent(XSS)}&productionDate=${encodeURIComponent('"><b>')}`);
  expect(evil.text).not.toMatch(/<img src=x|<script|<b>/);
});

test('public locations of a batch are shown with a map', async () => {
  const label = await published({}, 'DE');
  const locations = [{ latitude: -1.95, longitude: 30.06, pinName: XSS }];
  await batch(label.id, 'O', { locations, traceOrigin: true });
  await batch(label.id, 'N', { locations: [{ pinName: 'Secret' }], checkAuthenticity: true });
  const origin = (number: string) => open(`${label.uuid}/verify_batch_origin?number=${number}`);
  const shown = await origin('O');
  expect(shown.said).toMatch(/Diese Charge kommt von hier.*&#60;img src=x.*<svg/s);
  expect(shown.text).not.toMatch(/<img src=x|<script/);
  for (const number of ['N', 'X']) {
    const { text, said } = await origin(number);
    expect(said).toContain('keine Herkunftsorte bekannt');
    expect(text).not.toContain('Secret');
  }
  expect(await counted(label)).toEqual([0, 0, 0, 1, 2]);
});

test('page and API share a limit of checks, which the page reports; unpublished labels have no page', async () => {
  const label = await published();
  await batch(label.id, 'A', { checkAuthenticity: true });
  const path = `${label.uuid}/verify_batch_authenticity?number=A`;
  const headers = visitor();
  const byProgram = { 'x-forwarded-for': headers['x-forwarded-for'] };
  for (let n = 0; n < 30; n++) {
    expect((await open(path, headers)).status).toBe(200);
    expect((await trace.send('GET', `${PUBLIC}/${path}`, undefined, byProgram)).body.data).toBe(true);
  }
  const unseen = await trace.send('HEAD', `${PUBLIC}/${path}`, undefined, byProgram);
  expect(unseen.status, 'HEAD tells as much, by Content-Length').toBe(429);
  const more = await open(path, headers);
  expect([more.status, more.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
  expect(more.text).toContain('too many requests from this address; try again in');
  expect(Number(more.headers.get('retry-after'))).toBeGreaterThan(0);

  await good('POST', '/api/product/label/execute/UNPUBLISH_LABEL', { id: label.id });
  const unknown = '7a0e6e0c-52b6-4f0e-9a5b-0e4f3f6f3c11';
  for (const rest of ['', '/verify_batch_authenticity', '/verify_batch_origin?number=A']) {
    const [unpublished, never] = [await open(`${label.uuid}${rest}`), await open(`${unknown}${rest}`)];
    expect([unpublished.status, unpublished.text]).toEqual([404, never.text]);
    expect(unpublished.text).toContain('Page not found');
  }
});
