import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VERSION } from '../../src/platform/version.ts';
import { type Browser, openBrowser } from '../helpers/browser.ts';
import { type MailServer, mailServer, textOf, tokenIn } from '../helpers/mail-server.ts';
import { type RunningService, runningService } from '../helpers/service.ts';
import { enter, inbox, share, somebody, storedPacket } from '../helpers/sharing.ts';
import { type RunningTrace, runningTrace } from '../helpers/trace.ts';
import { JWT_SECRET } from '../helpers/user-registry.ts';

const AS_BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let mail: MailServer;
let service: RunningService;
let closed: RunningService;
let trace: RunningTrace;
let browser: Browser;
let folder: string;
beforeAll(async () => {
  mail = await mailServer();
  service = await runningService({ SMTP_URL: mail.url });
  closed = await runningService({ AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET }, service);
  trace = await runningTrace();
  browser = await openBrowser({ width: 390, height: 844 });
  // Kept where FIELDTRACE_SCREENSHOTS says, for people to look at.
  folder = process.env.FIELDTRACE_SCREENSHOTS ?? (await mkdtemp(path.join(tmpdir(), 'fieldtrace-page-')));
});
afterAll(async () => {
  await browser.close();
  await trace.stop();
  await closed.stop();
  await service.stop();
  await mail.stop();
  if (!process.env.FIELDTRACE_SCREENSHOTS) await rm(folder, { recursive: true, force: true });
});

const picture = (name: string) =>
  browser.page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });

/** Opens an address; gives the status. Its page is no wider than the phone, and complains of nothing but the status. */
async function open(url: string): Promise<number | undefined> {
  browser.complaints.length = 0;
  const answer = await browser.page.goto(url);
  expect(answer?.headers()['content-type']).toBe('text/html; charset=utf-8');
  expect(answer?.headers()['content-security-policy']).not.toContain('unsafe');
  expect(answer?.headers().vary ?? 'accept').toMatch(/accept/i);
  expect(await browser.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(browser.complaints.filter(text => !/status of 40[134]/.test(text))).toEqual([]);
  return answer?.status();
}

const heading = () => browser.page.locator('h1').textContent();

test('the packet service says what it is at its root, and its links lead somewhere', async () => {
  const { status, body, headers } = await closed.send('GET', '/');
  expect([status, body, headers.get('vary')]).toEqual([
    200,
    {
      service: 'packet-service',
      version: VERSION,
      documentation: '/docs',
      definition: '/openapi.json',
      graph: '/graph',
      health: '/health',
    },
    'accept',
  ]);
  expect(await open(`${service.url}/`)).toBe(200);
  expect(await heading()).toBe('fieldtrace packet service');
  await picture('start');
  expect(await browser.page.locator('pre').textContent()).toContain(`curl ${service.url}/intake/scouting`);
  const links = (await browser.page.evaluate(
    "Array.from(document.querySelectorAll('a'), link => link.href)",
  )) as string[];
  expect(links).toHaveLength(4);
  for (const link of links) expect((await fetch(link)).status, link).toBe(200);
});

test('a person accepts an invitation on the page that its link opens', async () => {
  const ben = somebody();
  const packet = await storedPacket(service);
  expect((await share(service, packet, ben.contact)).body.status).toBe('invitation_sent');
  const [received] = await mail.mailsTo(ben.contact);
  const link = `${service.url}/invitations/${tokenIn(received as never)}`;
  expect(textOf(received as never)).toContain(link);
  expect(await open(link)).toBe(200);
  await picture('invitation');
  await browser.page.getByLabel('Your user name').fill(ben.user);
  await browser.page.getByRole('button', { name: 'Accept' }).click();
  await browser.page.getByText('1 packet was shared with you You can close this page.').waitFor();
  expect(await inbox(service, ben.user)).toMatchObject([{ packet_id: packet, status: 'pending' }]);
  await open(link);
  await browser.page.getByLabel('Your user name').fill(ben.user);
  await browser.page.getByRole('button', { name: 'Accept' }).click();
  await browser.page
    .locator('output')
    .filter({ hasText: /invitation|used/ })
    .waitFor();
  // Where tokens are asked for, the page says where to go on.
  await open(`${closed.url}/invitations/${tokenIn(received as never)}`);
  await browser.page.getByLabel('Your user name').fill(ben.user);
  await browser.page.getByRole('button', { name: 'Accept' }).click();
  await browser.page.getByText('open the link in your field app').waitFor();
});

test('the links of a mail about a share are pages: the packet, and the inbox with its buttons', async () => {
  const eve = somebody();
  await enter(service, eve.user, [eve.contact]);
  const packets = [await storedPacket(service), await storedPacket(service)];
  for (const packet of packets) expect((await share(service, packet, eve.contact)).status).toBe(201);
  const mails = await mail.mailsTo(eve.contact, 2);
  const links = mails.flatMap(item => textOf(item).match(/http:\/\/\S+/g) ?? []);
  const ofPacket = links.find(link => link.includes('/packets/')) as string;
  expect(await open(ofPacket)).toBe(200);
  expect(await heading()).toBe('An observation');
  const text = await browser.page.locator('main').innerText();
  expect(text).toMatch(/Secret leaf rust[\s\S]*2026-03-01T08:15:00Z[\s\S]*1, 2[\s\S]*[0-9a-f]{64}/);
  await picture('packet');
  await browser.page.getByRole('link', { name: 'verify it' }).click();
  expect(await browser.page.locator('body').innerText()).toContain('"valid":true');

  const ofInbox = links.find(link => link.includes('/shares/inbox')) as string;
  expect(await open(ofInbox)).toBe(200);
  expect(await browser.page.locator('.item').count()).toBe(2);
  await picture('inbox');
  await browser.page.getByRole('button', { name: 'Accept' }).first().click();
  await browser.page.getByText('accepted').waitFor();
  await browser.page.getByRole('button', { name: 'Decline' }).click();
  await browser.page.getByText('declined').waitFor();
  expect((await inbox(service, eve.user)).map(({ status }) => status).sort()).toEqual([
    'accepted',
    'rejected',
  ]);
});

test('what a packet holds is text on its page, and a large one is not read', async () => {
  const evil = '<script>document.title="taken"</script>"\'&';
  const body = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: -1.5, lon: 29.2 },
    message: evil,
    [`field ${evil}`]: { nested: [evil] },
    attachments: ['att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2', { id: 'javascript:alert(1)' }],
  };
  const { body: made } = await service.send('POST', '/intake/scouting', body);
  expect(await open(`${service.url}/packets/${made.packet_uuid}`)).toBe(200);
  expect(await browser.page.title()).toBe('An observation');
  expect(await browser.page.locator('script, [onerror]').count()).toBe(0);
  expect(await browser.page.locator('main').innerText()).toContain(evil);
  const links = await browser.page.evaluate(
    "Array.from(document.querySelectorAll('a'), link => link.getAttribute('href'))",
  );
  expect(links).toEqual([
    'geo:-1.5,29.2',
    '../attachments/att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2',
    `${made.packet_uuid}/verify`,
  ]);
  const large = { ...body, message: 'x'.repeat(300_000) };
  const { body: other } = await service.send('POST', '/intake/scouting', large);
  const page = await service.send('GET', `/packets/${other.packet_uuid}`, undefined, AS_BROWSER);
  expect([page.status, page.text.length < 20_000]).toEqual([200, true]);
});

test('what is not there, or not open, is a page for a browser, and JSON for a program as before', async () => {
  const unknown = '01JD7Q2M8XW3N5R6T8V9Y0Z1A2';
  const uuid = '00000000-0000-4000-8000-000000000000';
  const cases: [string, number, string][] = [
    [`${service.url}/packets/${unknown}`, 404, 'Page not found'],
    [`${closed.url}/packets/${unknown}`, 401, 'Login required'],
    [`${closed.url}/shares/inbox?user_id=eve`, 401, 'Login required'],
    [`${trace.url}/api/public/product/label/${uuid}`, 404, 'Page not found'],
  ];
  for (const [url, status, title] of cases) {
    expect(await open(url), url).toBe(status);
    expect(await heading(), url).toBe(title);
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const answer = await fetch(url, { headers });
      expect([answer.status, answer.headers.get('content-type')], url).toEqual([
        status,
        'application/json; charset=utf-8',
      ]);
    }
  }
  await picture('label-unknown');
  const packet = await storedPacket(service);
  const { headers } = await service.send('GET', `/packets/${packet}`);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  // What a cache has of the packet is never taken for the page.
  const revalidated = await service.send('GET', `/packets/${packet}`, undefined, {
    accept: 'text/html',
    'if-none-match': headers.get('etag') as string,
  });
  expect([
    revalidated.status,
    revalidated.headers.get('vary'),
    revalidated.headers.get('cache-control'),
  ]).toEqual([200, 'accept', 'no-store']);
});

test('the pages of mails of the trace backend are in the same style', async () => {
  expect(await open(`${trace.url}/api/user/confirm_email/${'x'.repeat(43)}`)).toBe(200);
  await picture('confirm');
  await browser.page.getByLabel('Password of the account').fill('a password');
  await browser.page.getByRole('button', { name: 'Confirm' }).click();
  await browser.page.getByText('token is unknown, used or older').waitFor();
  expect(await open(`${trace.url}/api/user/reset_password/${'x'.repeat(43)}`)).toBe(200);
  await picture('reset');
});
