import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newUlid, ulidToUuid } from '../../../src/packet-service/core/packet-format/ulid.ts';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  DESKTOP,
  expectAccessible,
  logIn,
  PHONE,
  realComplaints,
} from '../../helpers/console-page.ts';
import { eventually } from '../../helpers/eventually.ts';
import { textOf } from '../../helpers/mail-server.ts';
import type { Send } from '../../helpers/service.ts';

interface Person {
  id: string;
  email: string;
  send: Send;
}

/** Busy machines have time. */
const SOON = { timeout: 60_000 };

let pages: RunningConsole;
let browser: Browser;
let ana: Person;
let ben: Person;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  ana = await person('Ana', 'Uwase');
  ben = await person('Ben', 'Mugisha');
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(async () => {
  await browser.page.context().clearCookies();
  await browser.page.setViewportSize(DESKTOP);
});

async function person(name: string, surname: string): Promise<Person> {
  const { id, email } = await pages.newUser('USER', { name, surname });
  return { id: String(id), email, send: (await pages.login(email)).send };
}

async function made(who: Person, path: string, body: object): Promise<Record<string, string>> {
  const answer = await who.send('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const say = (who: Person, thread_id: string, text: string, attachments: string[] = []) =>
  made(who, '/packet/intake/chat-message', { thread_id, text, from_user: who.id, attachments });
const log = (page: Page) => page.getByRole('log', { name: 'Messages' });

/** On a phone an empty thread leaves room to write, in a box that grows with the text. */
async function expectRoomOnPhone(page: Page): Promise<void> {
  await page.setViewportSize(PHONE);
  const text = page.getByRole('textbox', { name: 'Message' });
  const boxOf = async (element: Locator) => (await element.boundingBox()) ?? { y: 0, height: 0 };
  const { y, height } = await boxOf(text);
  const send = await boxOf(page.getByRole('button', { name: 'Send' }));
  expect(send.y + send.height).toBeLessThan(PHONE.height);
  expect(y).toBeGreaterThan((await boxOf(log(page))).y);
  await text.fill('A message that is longer than two lines of a phone. '.repeat(4));
  await expect.poll(async () => (await boxOf(text)).height).toBeGreaterThan(height);
  await text.fill('');
  await page.setViewportSize(DESKTOP);
}

test('a thread is opened, written in, joined by a colleague whose messages appear automatically, and left', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/threads`, ana.email);
  await page.getByText('No threads yet').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'New thread' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New thread' });
  await dialog.getByLabel('Name').fill('Lot 7 <b>rust</b>');
  await dialog.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('heading', { name: 'Lot 7 <b>rust</b>' }).waitFor();
  const thread = new URL(page.url()).pathname.split('/').at(-1) as string;
  await page.getByText('No messages yet').waitFor();
  await expectRoomOnPhone(page);

  // A text that is too long is kept whole and not sent.
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('x'.repeat(251));
  await page.getByText('251 of 250 characters').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('At most 250 characters').waitFor();
  expect((await box.inputValue()).length).toBe(251);
  await box.fill('<script>alert(1)</script> look');
  await page.getByLabel('Attach files').setInputFiles({
    name: 'notes.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('three rows'),
  });
  await page.getByRole('button', { name: 'Send' }).click();
  await log(page).getByText('<script>alert(1)</script> look').waitFor();
  await log(page).getByRole('link', { name: 'notes.txt' }).waitFor();
  await say(ana, thread, 'from an app', [`att_${newUlid()}`, `att_${newUlid()}`]);
  await log(page).getByRole('link', { name: 'File 1', exact: true }).waitFor();
  await log(page).getByRole('link', { name: 'File 2', exact: true }).waitFor();
  const { messages } = (await ana.send('GET', `/packet/chat/threads/${thread}/messages?details=true`)).body;
  const { body } = await ana.send('GET', `/packet/packets/${messages[0].packet_id}/attachments`);
  expect(body.attachments).toEqual([expect.objectContaining({ status: 'stored', size: 10 })]);
  expect((await ben.send('GET', `/packet/chat/threads/${thread}`)).status).toBe(403);

  await page.locator('summary').filter({ hasText: 'Participants' }).click();
  await page.getByRole('textbox', { name: 'Email address or number' }).fill(ben.email);
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByText('nobody was added').waitFor();
  const { participants } = (await ana.send('GET', `/packet/chat/threads/${thread}/participants`)).body;
  expect(participants).toHaveLength(1);
  await page.getByRole('textbox', { name: 'Email address or number' }).fill(ben.id);
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('cell', { name: `User ${ben.id}`, exact: true }).waitFor();
  await expectAccessible(page);
  await say(ben, thread, 'on my way');
  await log(page).getByText('on my way').waitFor();

  await page.getByRole('button', { name: 'Leave the thread' }).click();
  const question = page.getByRole('dialog', { name: 'Leave the thread' });
  await question.getByText('another participant can add you again').waitFor();
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect((await ana.send('GET', `/packet/chat/threads/${thread}`)).status).toBe(200);
  const benTakesPart = `/packet/chat/threads/${thread}/participants/${ben.id}`;
  expect((await ben.send('DELETE', benTakesPart)).status).toBe(204);
  await page.getByRole('button', { name: 'Leave the thread' }).click();
  await question.getByText('You are the only participant').waitFor();
  await question.getByRole('button', { name: 'Leave the thread' }).click();
  await page.getByText('No threads yet').waitFor();
  await page.goto(`${pages.url}/threads/${thread}`);
  await page.getByRole('alert').waitFor();
  expect(realComplaints(browser)).toEqual([]);
});

test('search finds parts of words in any script, marks them, and leads to the thread', async () => {
  const { thread_id = '' } = await made(ana, '/packet/chat/threads', { name: 'Search', created_by: ana.id });
  const other = await made(ben, '/packet/chat/threads', { name: 'Others', created_by: ben.id });
  for (const text of ['Leaf RUST on lot 7', 'गेहूं में रतुआ है', '小麦叶锈病', '<b>trust</b>'])
    await say(ana, thread_id, text);
  await say(ben, other.thread_id as string, 'rust of others');
  const { page } = browser;
  await logIn(page, `${pages.url}/threads`, ana.email);
  const search = page.getByLabel('Search messages');
  for (const [keyword, hits] of [
    ['rust', ['rust', 'RUST']],
    ['रतुआ', ['रतुआ']],
    ['叶锈', ['叶锈']],
  ] as const) {
    await search.fill(keyword);
    await search.press('Enter');
    await expect.poll(() => page.locator('mark').allInnerTexts(), SOON).toEqual(hits);
    expect(new URL(page.url()).searchParams.get('keyword')).toBe(keyword);
  }
  await expectAccessible(page);
  await search.fill('nothing like it');
  await search.press('Enter');
  await page.getByText('No matching messages').waitFor();
  await page.goBack();
  const hit = page.getByRole('main').getByRole('link', { name: 'Search', exact: true }).first();
  expect(await hit.getAttribute('title')).toBe(thread_id);
  await hit.click();
  await page.getByRole('heading', { name: 'Search' }).waitFor();
});

test('a search result opens its thread at the message, however far up it is, and leads back to the results', async () => {
  const { thread_id = '' } = await made(ana, '/packet/chat/threads', { name: 'Old', created_by: ana.id });
  const COUNT = 3000;
  await fillThread(thread_id, COUNT, '2020-01-01');
  const hit = await made(ana, '/packet/intake/chat-message', {
    thread_id,
    text: 'the Quelea flock',
    from_user: ana.id,
  });
  await fillThread(thread_id, COUNT, '2120-01-01');
  const { page } = browser;
  await logIn(page, `${pages.url}/threads?keyword=quelea&from=2025-01-01`, ana.email);
  await page.getByRole('cell', { name: 'Old' }).waitFor();
  browser.asked.length = 0;
  await page.getByRole('row').filter({ hasText: 'Old' }).getByRole('link').first().click();
  const found = log(page).getByRole('article').filter({ hasText: 'Found' });
  await expect.poll(() => found.evaluate(node => node.ownerDocument.activeElement === node), SOON).toBe(true);
  expect(await found.getByText('the Quelea flock').locator('mark').allInnerTexts()).toEqual(['Quelea']);
  expect(await found.getByRole('link').getAttribute('href')).toBe(`/packets/${hit.packet_uuid}`);
  const [around, within] = await Promise.all([log(page).boundingBox(), found.boundingBox()]);
  const middleOf = (box: { y: number; height: number } | null) => (box ? box.y + box.height / 2 : Number.NaN);
  expect(Math.abs(middleOf(within) - middleOf(around))).toBeLessThan(20);
  // What is before it, and what is after it.
  expect(browser.asked.filter(url => url.includes(`/chat/threads/${thread_id}/messages`))).toHaveLength(2);
  await expectAccessible(page);

  await expect
    .poll(async () => {
      await log(page).evaluate(node => {
        node.scrollTop = node.scrollHeight;
      });
      const last = await log(page).getByRole('article').last().innerText();
      return Number(/message (\d+)\s*$/.exec(last)?.[1]);
    }, SOON)
    .toBeGreaterThan(400);
  await page.reload();
  await found.waitFor();
  await page.getByRole('link', { name: 'Newest messages' }).click();
  await log(page)
    .getByText(`message ${COUNT - 1}`, { exact: true })
    .waitFor();
  expect(await page.getByRole('link', { name: 'Newest messages' }).count()).toBe(0);
  await page.goBack();
  await found.waitFor();
  // Sent messages are not shown next to an older message.
  await page.getByRole('textbox', { name: 'Message' }).fill('I see it');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.waitForURL(url => url.search === '');
  await page.goBack();
  await found.waitFor();
  await page.getByRole('link', { name: 'Back to the search results' }).click();
  await page.locator('mark', { hasText: 'Quelea' }).waitFor();
  expect(new URL(page.url()).search).toBe('?keyword=quelea&from=2025-01-01');
});

test('a found message that was removed since is reported, and the thread shows the newest ones', async () => {
  const { thread_id = '' } = await made(ana, '/packet/chat/threads', { name: 'Gone', created_by: ana.id });
  await say(ana, thread_id, 'still here');
  const { page } = browser;
  await logIn(page, `${pages.url}/threads/${thread_id}?message=${newUlid()}`, ana.email);
  await page.getByText('is no longer in this thread').waitFor();
  await log(page).getByText('still here').waitFor();
  await say(ana, thread_id, 'and this comes');
  await log(page).getByText('and this comes').waitFor();
  await page.goto(`${pages.url}/threads/${thread_id}?message=<b>`);
  await page.getByText('is no longer in this thread').waitFor();
  await log(page).getByText('and this comes').waitFor();
  expect(await page.getByRole('link', { name: 'Back to the search results' }).count()).toBe(0);
  await expectAccessible(page);
});

test('a long thread opens at its end, loads earlier messages on scrolling up, and keeps few of them on the page', async () => {
  const { thread_id = '' } = await made(ana, '/packet/chat/threads', { name: 'Long', created_by: ana.id });
  const COUNT = 3000;
  await fillThread(thread_id, COUNT);
  const { page } = browser;
  await logIn(page, `${pages.url}/threads/${thread_id}`, ana.email);
  await log(page)
    .getByText(`message ${COUNT - 1}`, { exact: true })
    .waitFor();
  const scroller = log(page);
  const atEnd = await scroller.evaluate(node => node.scrollHeight - node.scrollTop - node.clientHeight);
  expect(atEnd).toBeLessThan(5);
  let most = 0;
  await expect
    .poll(
      async () => {
        await scroller.evaluate(node => {
          node.scrollTop = 0;
        });
        most = Math.max(most, await scroller.locator('article').count());
        return scroller.getByText('message 0', { exact: true }).count();
      },
      { timeout: 100_000 },
    )
    .toBe(1);
  expect(most).toBeLessThan(1000);
  await scroller.evaluate(node => {
    node.scrollTop = node.scrollHeight;
  });
  await log(page)
    .getByText(`message ${COUNT - 1}`, { exact: true })
    .waitFor();
  await expect.poll(() => scroller.locator('article').count(), SOON).toBeLessThan(600);
});

/** Puts messages into a thread as the service stores them. */
async function fillThread(threadId: string, count: number, from = '2026-01-01'): Promise<void> {
  const ids = Array.from({ length: count }, () => ulidToUuid(newUlid()));
  await pages.query(
    'packet_service',
    `INSERT INTO packets (id, geoid, ts, type, thread_id, header, body, footer, author)
      SELECT id, '', $4::timestamptz + n * interval '1 second', 'chat_message', $2, '{}', '{"attachments":[]}', '{}', $3
      FROM unnest($1::uuid[]) WITH ORDINALITY AS made (id, n)`,
    [ids, ulidToUuid(threadId), ana.id, from],
  );
  await pages.query(
    'packet_service',
    `INSERT INTO chat_messages (thread_id, ts, packet_id, folded, geoid, pieces)
      SELECT $2, $3::timestamptz + n * interval '1 second', id, 'message ' || n - 1, '', '{}'
      FROM unnest($1::uuid[]) WITH ORDINALITY AS made (id, n)`,
    [ids, ulidToUuid(threadId), from],
  );
}

test('shares are accepted and declined in the inbox; a packet is shared from its page, with an invitation for strangers', async () => {
  expect((await ben.send('PUT', '/trace/api/user/profile', { discoverable: true })).status).toBe(200);
  const observation = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: 'to share',
  };
  const ids: string[] = [];
  for (let n = 0; n < 2; n++)
    ids.push((await made(ana, '/packet/intake/scouting', observation)).packet_uuid as string);
  const { page } = browser;
  await logIn(page, `${pages.url}/packets/${ids[0]}`, ana.email);
  for (const [contact, notice] of [
    [ben.email, `Shared with ${ben.email}`],
    ['stranger@example.org', 'The packet is waiting for stranger@example.org'],
  ] as const) {
    await page.getByRole('button', { name: 'Share' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Share' });
    await dialog.getByLabel('Email address or phone number').fill(contact);
    await dialog.getByRole('button', { name: 'Share' }).click();
    // The page of the packet then says it, too.
    await page.getByText(notice).first().waitFor();
  }
  await page.getByText('as soon as they log in with this address').waitFor();
  await page.getByText('This installation doesn’t send emails, so pass on the invitation yourself').waitFor();
  expect(await page.getByText('DATA_DIR').count()).toBe(0);
  await expectAccessible(page);
  const sharing = page.getByRole('dialog', { name: 'Share' });
  const contact = sharing.getByLabel('Email address or phone number');
  for (const nobody of ['foo', '0788123456']) {
    await contact.fill(nobody);
    await sharing.getByRole('button', { name: 'Share' }).click();
    await page.getByText('This is neither an email address').waitFor();
    await expectAccessible(page);
  }
  expect(await page.getByText('waiting for foo').count()).toBe(0);
  await contact.fill('+250 788 123 456');
  await sharing.getByRole('button', { name: 'Share' }).click();
  await page.getByText('The packet is waiting for +250 788 123 456').waitFor();
  await page.getByText('phone numbers receive no email').waitFor();
  expect(await page.getByText('log in with this address').count()).toBe(0);
  await made(ana, '/packet/shares', { packet_id: ids[1], from_user: ana.id, contact_value: ben.email });

  await page.context().clearCookies();
  await logIn(page, `${pages.url}/inbox`, ben.email);
  const row = (n: number) =>
    page.getByRole('row').filter({ has: page.locator(`a[href="/packets/${ids[n]}"]`) });
  await row(0).getByRole('cell', { name: 'Ana Uwase' }).waitFor();
  await expectAccessible(page);
  await row(0).getByRole('button', { name: 'Accept' }).click();
  await row(0).getByRole('cell', { name: 'Accepted' }).waitFor();
  await row(1).getByRole('button', { name: 'Decline' }).click();
  await page.getByRole('dialog').getByText('Ana Uwase has shared this packet with you').waitFor();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
  await row(1).getByRole('cell', { name: 'Declined' }).waitFor();
  await page.getByLabel('Status').selectOption('pending');
  await page.getByText('No matching shares').waitFor();
  await page.getByLabel('Status').selectOption('accepted');
  await row(0).getByRole('link').click();
  await page.getByText('to share').first().waitFor();
  expect(realComplaints(browser)).toEqual([]);
});

/** A new company with its administrator, who adds its users. */
async function newCompany(name: string, boss: Person) {
  const admin = await pages.newUser('SYSTEM_ADMIN', { name: 'Ada', surname: 'Admin' });
  const { send } = await pages.login(admin.email);
  const created = await send('POST', '/trace/api/company/create', { name });
  const companyId: number = created.body.data.id;
  const act = async (by: Send, action: string, body: object) => {
    const answer = await by('POST', `/trace/api/company/execute/${action}`, { companyId, ...body });
    expect(answer.status, answer.text).toBe(200);
  };
  const userId = Number(boss.id);
  await act(send, 'ACTIVATE_COMPANY', {});
  await act(send, 'ADD_USER_TO_COMPANY', { userId });
  await act(send, 'SET_USER_COMPANY_ROLE', { userId, companyUserRole: 'COMPANY_ADMIN' });
  return {
    companyId,
    /** invites a user, as the administrator of a company does */
    invite: (who: Person) => act(boss.send, 'ADD_USER_TO_COMPANY', { userId: Number(who.id) }),
    /** adds a user without asking */
    add: (who: Person) => act(send, 'ADD_USER_TO_COMPANY', { userId: Number(who.id) }),
  };
}

test('packet invitations are accepted by their link or code, company invitations by a button', async () => {
  const { invite } = await newCompany('Kopanyi', await person('Bea', 'Boss'));
  const caro = await person('Caro', 'Keza');
  await invite(caro);

  const { page } = browser;
  await logIn(page, `${pages.url}/inbox`, caro.email);
  await page.getByText('Kopanyi has invited you as member').waitFor();
  await page.getByText('Enter its code under').waitFor();
  expect(await page.getByRole('main').getByRole('link', { name: 'Your account' }).getAttribute('href')).toBe(
    '/account',
  );
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Accept' }).first().click();
  await page.getByText('You are now a member').waitFor();
  expect((await caro.send('GET', '/trace/api/company/list')).body.data.items).toHaveLength(1);

  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const packet_id = (await made(ana, '/packet/intake/scouting', observation)).packet_uuid;
  const contact_value = 'caro-in-the-field@example.org';
  await made(ana, '/packet/shares', { packet_id, from_user: ana.id, contact_value });
  const link = await eventually(() => linkOfMail(contact_value));
  await page.getByText('I have an invitation code', { exact: true }).click();
  const field = page.getByLabel('Link from the email');
  await field.fill(`${pages.packetUrl}/invitations/not-a-token`);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('alert').waitFor();
  await expectAccessible(page);
  await field.fill(link as string);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText('Accepted: 1 packet is in your inbox').waitFor();
  await page.getByRole('link', { name: packet_id as string }).waitFor();
  // An invitation to another address says nothing about that of the account.
  expect((await caro.send('GET', '/trace/api/user/profile')).body.data.discoverable).toBe(false);
});

test('threads with new messages are marked until their end is seen, in every tab and on every device', async () => {
  const [dan, eve] = [await person('Dan', 'Doe'), await person('Eve', 'Okoro')];
  const { thread_id = '' } = await made(dan, '/packet/chat/threads', { name: 'Harvest' });
  await dan.send('POST', `/packet/chat/threads/${thread_id}/participants`, { user_ids: [eve.id] });
  await say(dan, thread_id, 'It begins');
  const { page } = browser;
  await logIn(page, pages.url, eve.email);
  await page.getByRole('main').getByRole('link', { name: '1 thread has new messages' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Harvest' });
  await row.getByText('New messages').waitFor();
  const item = page.getByRole('navigation').getByRole('link', { name: /^Threads/ });
  await item.getByText('1 thread has new messages').waitFor();
  await expectAccessible(page);

  const second = await page.context().newPage();
  await second.goto(`${pages.url}/threads`);
  await second.getByText('New messages', { exact: true }).waitFor();
  await row.getByRole('link', { name: 'Harvest' }).click();
  await log(page).getByText('It begins').waitFor();
  await expect.poll(() => item.getByText('new messages').count(), SOON).toBe(0);
  await expect.poll(() => second.getByText('new messages').count(), SOON).toBe(0);
  expect((await eve.send('GET', '/packet/chat/unread')).body.thread_ids).toEqual([]);

  await second.goto(`${pages.url}/`);
  await second.getByText('Nothing needs your attention').waitFor();
  await page.goto(`${pages.url}/threads`);
  await say(dan, thread_id, 'It goes on');
  await row.getByText('New messages').waitFor(SOON);
  await second.getByRole('main').getByRole('link', { name: '1 thread has new messages' }).waitFor(SOON);
  await second.setViewportSize(PHONE);
  const bar = second.getByRole('navigation', { name: 'Main screens' });
  await bar.getByRole('link', { name: 'Threads 1 thread has new messages' }).waitFor();
  await expectAccessible(second);
  await second.close();
  const { messages } = (await dan.send('GET', `/packet/chat/threads/${thread_id}/messages`)).body;
  const message_id = messages.at(-1).packet_id;
  await eve.send('PUT', `/packet/chat/threads/${thread_id}/read`, { message_id });
  await page.reload();
  await row.waitFor();
  await expect.poll(() => page.getByText('new messages').count(), SOON).toBe(0);
  await say(eve, thread_id, 'I see');
  await say(dan, thread_id, 'Good');
  await row.getByText('New messages').waitFor(SOON);
  expect((await dan.send('GET', '/packet/chat/unread')).body.thread_ids).toEqual([thread_id]);
});

/** Tells a page that its tab is shown, or is not. */
const becomes = (state: 'visible' | 'hidden') =>
  `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
  document.dispatchEvent(new Event('visibilitychange'))`;

test('a message that is not on the screen, or in a tab that is not shown, stays unread', async () => {
  const [dan, eve] = [await person('Dan', 'Doe'), await person('Eve', 'Okoro')];
  const { thread_id = '' } = await made(dan, '/packet/chat/threads', { name: 'Hidden' });
  await dan.send('POST', `/packet/chat/threads/${thread_id}/participants`, { user_ids: [eve.id] });
  for (let n = 0; n < 60; n++) await say(dan, thread_id, `line ${n}`);
  const { page } = browser;
  let marked = 0;
  const count = (request: { method(): string; url(): string }) => {
    if (request.method() === 'PUT' && request.url().endsWith('/read')) marked++;
  };
  page.on('request', count);
  await logIn(page, `${pages.url}/threads/${thread_id}`, eve.email);
  const item = page.getByRole('navigation').getByRole('link', { name: /^Threads/ });
  await log(page).getByText('line 59').waitFor();
  await expect.poll(() => marked, SOON).toBe(1);
  await expect.poll(() => item.getByText('new messages').count(), SOON).toBe(0);
  await log(page).evaluate(node => {
    node.scrollTop = 0;
  });
  await say(dan, thread_id, 'not seen');
  await item.getByText('1 thread has new messages').waitFor(SOON);
  await log(page)
    .getByText('not seen')
    .waitFor({ ...SOON, state: 'attached' });
  await page.evaluate(becomes('hidden'));
  await log(page).evaluate(node => {
    node.scrollTop = node.scrollHeight;
  });
  expect(marked).toBe(1);
  await page.evaluate(becomes('visible'));
  await expect.poll(() => marked, SOON).toBe(2);
  await expect.poll(() => item.getByText('new messages').count(), SOON).toBe(0);
  page.off('request', count);
});

test('strangers who write in a thread have names in it, and those who were only added have numbers', async () => {
  const [dan, eve, zoe] = [
    await person('Dan', 'Doe'),
    await person('Eve', 'Okoro'),
    await person('Zoe', 'Moyo'),
  ];
  const { thread_id = '' } = await made(dan, '/packet/chat/threads', { name: 'Borders' });
  const participants = `/packet/chat/threads/${thread_id}/participants`;
  const added = await dan.send('POST', participants, { user_ids: [ana.id, eve.id, zoe.id] });
  expect(added.status).toBe(200);
  await say(dan, thread_id, 'Is anyone there?');
  await say(eve, thread_id, 'I am');
  const { page } = browser;
  // Nobody has written in this one, and its page is opened without the list.
  const silent = await made(dan, '/packet/chat/threads', { name: 'Silent' });
  await dan.send('POST', `/packet/chat/threads/${silent.thread_id}/participants`, { user_ids: [ana.id] });
  await logIn(page, `${pages.url}/threads/${silent.thread_id}`, ana.email);
  await page.locator('summary').filter({ hasText: 'Participants' }).click();
  await page.getByRole('cell', { name: 'Dan Doe' }).waitFor();
  await page.goto(`${pages.url}/threads`);
  await page.getByRole('row').filter({ hasText: 'Borders' }).getByText('Dan Doe').waitFor();
  await page.getByRole('link', { name: 'Borders' }).click();
  await log(page).getByRole('article').filter({ hasText: 'Is anyone there?' }).getByText('Dan Doe').waitFor();
  await log(page).getByRole('article').filter({ hasText: 'I am' }).getByText('Eve Okoro').waitFor();
  await page.locator('summary').filter({ hasText: 'Participants' }).click();
  await page.getByRole('cell', { name: 'Eve Okoro' }).waitFor();
  await page.getByRole('cell', { name: `User ${zoe.id}`, exact: true }).waitFor();
  await expectAccessible(page);
});

test('members of one company know each other by name', async () => {
  const [boss, caro] = [await person('Bea', 'Boss'), await person('Caro', 'Keza')];
  const { add, companyId } = await newCompany('Ubumwe', boss);
  await add(caro);
  const { thread_id = '' } = await made(caro, '/packet/chat/threads', {
    name: 'Ubumwe',
    created_by: caro.id,
  });
  const { page } = browser;
  await logIn(page, `${pages.url}/threads/${thread_id}`, caro.email);
  await page.locator('summary').filter({ hasText: 'Participants' }).click();
  await page.getByRole('combobox', { name: 'Colleague' }).selectOption(boss.id);
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('cell', { name: 'Bea Boss' }).waitFor();
  const stranger = await person('Dan', 'Doe');
  await page.getByRole('textbox', { name: 'Email address or number' }).fill(stranger.id);
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('cell', { name: `User ${stranger.id}` }).waitFor();
  const other = await made(caro, '/packet/chat/threads', { name: 'Typed', created_by: caro.id });
  await page.goto(`${pages.url}/threads/${other.thread_id}`);
  await page.locator('summary').filter({ hasText: 'Participants' }).click();
  await page.getByRole('combobox', { name: 'Colleague' }).waitFor();
  await page.getByRole('textbox', { name: 'Email address or number' }).fill(boss.email.toUpperCase());
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('cell', { name: 'Bea Boss' }).waitFor();
  // Who joins while the page is open is found without loading it again.
  const joined = await person('Fay', 'Ndayi');
  await add(joined);
  await page.getByRole('textbox', { name: 'Email address or number' }).fill(joined.email);
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('cell', { name: 'Fay Ndayi' }).waitFor();
  await expectAccessible(page);

  await page.goto(`${pages.url}/companies/${companyId}/members`);
  await page.getByRole('button', { name: 'Leave Caro Keza' }).click();
  const question = page.getByRole('dialog', { name: 'Leave the company?' });
  await question.getByText('You lose access to the company').waitFor();
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Leave', exact: true }).click();
  await page.getByText('You have no company yet').waitFor();
});

/** The link to an invitation in the mail to an address, if it is there. */
async function linkOfMail(address: string): Promise<string | undefined> {
  const folder = path.join(pages.folder, 'mail');
  for (const name of await readdir(folder).catch(() => [])) {
    const raw = name.endsWith('.eml') ? await readFile(path.join(folder, name), 'utf8') : '';
    const link = /https?:\/\/\S+\/inbox\?invitation=[\w-]{43}/.exec(
      raw.includes(address) ? textOf({ raw }) : '',
    );
    if (link) return link[0];
  }
  return undefined;
}
