import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  DESKTOP,
  expectAccessible,
  logIn,
  realComplaints,
} from '../../helpers/console-page.ts';
import type { Send } from '../../helpers/service.ts';

interface Person {
  id: string;
  email: string;
  send: Send;
}

let pages: RunningConsole;
let browser: Browser;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(async () => {
  await browser.page.context().clearCookies();
  await browser.page.setViewportSize(DESKTOP);
});

/** A user who can be found, and who is a member of no company. */
async function person(name: string, surname: string): Promise<Person> {
  const { id, email } = await pages.newUser('USER', { name, surname });
  const { send } = await pages.login(email);
  await send('PUT', '/trace/api/user/profile', { discoverable: true });
  return { id: String(id), email, send };
}

async function made(who: Person, path: string, body: object): Promise<Record<string, string>> {
  const answer = await who.send('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function observe(who: Person, message: string, lon = 2): Promise<string> {
  const body = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon }, message };
  return (await made(who, '/packet/intake/scouting', body)).packet_uuid as string;
}

const share = (who: Person, packet_id: string, contact_value: string) =>
  made(who, '/packet/shares', { packet_id, contact_value });

test('an author has the same name in the list and on the page of a packet, after a reload, too', async () => {
  const [ana, ben, zoe] = [
    await person('Ana', 'Uwase'),
    await person('Ben', 'Mugisha'),
    await person('Zoe', 'Moyo'),
  ];
  const id = await observe(ana, 'of Ana');
  await observe(ben, 'of Ben');
  await observe(zoe, 'of Zoe');
  await share(ana, id, ben.email);
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, ben.email);
  const row = (text: string) => page.getByRole('row').filter({ hasText: text });
  await row('of Ana').getByRole('cell', { name: 'Ana Uwase' }).waitFor();
  await row('of Ben').getByRole('cell', { name: 'Ben Mugisha' }).waitFor();
  await row('of Zoe')
    .getByRole('cell', { name: `User ${zoe.id}` })
    .waitFor();
  await page.goto(`${pages.url}/packets/${id}`);
  await page.getByRole('definition').filter({ hasText: 'Ana Uwase' }).waitFor();
  expect(realComplaints(browser)).toEqual([]);
});

test('the CSV file has the names of fields and authors, if they are chosen among the columns', async () => {
  const ana = await person('Ana', 'Uwase');
  await observe(ana, 'named', 30);
  const { page } = browser;
  await logIn(page, `${pages.url}/packets?near=1,30,1000`, ana.email);
  await page.getByText('Columns').click();
  await page.getByLabel('Name of the field').check();
  await page.getByLabel('Name of the author').check();
  await expectAccessible(page);
  const address = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
  const csv = (await ana.send('GET', address as string)).text.trim().split(/\r?\n/);
  expect(csv[0]).toMatch(/,attachments,field_name,author_name$/);
  expect(csv[1]).toMatch(/,Ana Uwase$/);
  await page.getByLabel('Name of the author').uncheck();
  expect(new URL(page.url()).searchParams.get('names')).toBe('field_name');
});

test('senders see the recipients of a packet and their answers; recipients see what they have declined', async () => {
  const [ana, ben, cas] = [
    await person('Ana', 'Uwase'),
    await person('Ben', 'Mugisha'),
    await person('Cas', 'Keza'),
  ];
  const id = await observe(ana, 'Leaf rust');
  const { thread_id = '' } = await made(ana, '/packet/chat/threads', { name: 'Lot 7' });
  const said = await made(ana, '/packet/intake/chat-message', {
    thread_id,
    text: 'A secret',
    geoids: ['plot 7'],
  });
  const shares = [await share(ana, id, ben.email), await share(ana, said.packet_uuid as string, ben.email)];
  const { page } = browser;
  await logIn(page, `${pages.url}/packets/${id}`, ana.email);
  const list = page.getByRole('listitem');
  await list.filter({ hasText: ben.email }).getByText('not answered yet').waitFor();
  await page.getByRole('button', { name: 'Share' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Share' });
  await dialog.getByLabel('Email address or phone number').fill(cas.email);
  await dialog.getByRole('button', { name: 'Share' }).click();
  await list.filter({ hasText: cas.email }).getByText('not answered yet').waitFor();
  for (const { share_id } of shares) await ben.send('POST', `/packet/shares/${share_id}/reject`, {});
  await page.reload();
  await list.filter({ hasText: ben.email }).getByText('declined').waitFor();
  await expectAccessible(page);

  await page.context().clearCookies();
  await logIn(page, `${pages.url}/inbox`, ben.email);
  const declined = page.getByRole('row').filter({ hasText: 'Declined' });
  await declined.getByRole('link', { name: 'Leaf rust' }).waitFor();
  const message = declined.filter({ hasText: 'Chat message' });
  await message.getByText('plot 7').waitFor();
  expect(await message.getByRole('link').count()).toBe(0);
  expect(await page.getByText('A secret').count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Leaf rust' }).click();
  await page.getByRole('heading', { name: 'Connections' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Shared with' }).count()).toBe(0);
});

test('a thread without other participants says so, and leads to the form that adds them', async () => {
  const [ana, ben] = [await person('Ana', 'Uwase'), await person('Ben', 'Mugisha')];
  const { thread_id } = await made(ana, '/packet/chat/threads', { name: 'Lot 7' });
  const { page } = browser;
  await logIn(page, `${pages.url}/threads/${thread_id}`, ana.email);
  const alone = page.getByText('Nobody else is in this thread yet');
  await alone.waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Invite somebody' }).click();
  await page.locator(':focus').and(page.getByLabel('Email address or number')).fill(ben.id);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('cell', { name: `User ${ben.id}`, exact: true }).waitFor();
  expect(await alone.count()).toBe(0);
});

test('a page says that its record is missing or not accessible, and links to the list', async () => {
  const { page } = browser;
  const [ana, ben] = [await pages.newUser(), await pages.newUser()];
  const { send } = await pages.login(ana.email);
  const company = (await send('POST', '/trace/api/company/create', { name: 'Kopanyi' })).body.data.id;
  const thread = (await send('POST', '/packet/chat/threads', { name: 'Lot 7' })).body.thread_id;
  await logIn(page, pages.url, ben.email);
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  for (const [path, sentence, list] of [
    [`/companies/${company}`, 'Company not found, or you don’t have access.', 'Companies'],
    ['/companies/999999', 'Company not found, or you don’t have access.', 'Companies'],
    [`/companies/${company}/members`, 'Company not found, or you don’t have access.', 'Companies'],
    [`/threads/${thread}`, 'Thread not found, or you don’t have access.', 'Threads'],
    ['/products/999999', 'Product not found, or you don’t have access.', 'Products'],
    ['/labels/999999', 'Label not found, or you don’t have access.', 'Products'],
    ['/packets/01JD7QZ0000000000000000000', 'Packet not found, or you don’t have access.', 'Packets'],
  ] as const) {
    await page.goto(`${pages.url}${path}`);
    await page.getByRole('alert').getByText(sentence).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count(), path).toBe(0);
    await page.getByRole('main').getByRole('link', { name: list, exact: true }).click();
    await page.getByRole('heading', { name: list, exact: true }).waitFor();
  }
  await page.goto(`${pages.url}/companies/999999`);
  await page.getByRole('alert').waitFor();
  await expectAccessible(page);
});
