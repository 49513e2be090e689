import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MESSAGE_LANGUAGES } from '../../../src/platform/messages/messages.ts';
import { withSecondFactor } from '../../helpers/authenticator.ts';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  chooseLanguage,
  consoleBrowser,
  expectAccessible,
  isFocused,
  logIn,
  logOut,
  realComplaints,
} from '../../helpers/console-page.ts';
import { eventually } from '../../helpers/eventually.ts';
import { ADMIN } from '../../helpers/trace.ts';
import { type WebhookReceiver, webhookReceiver } from '../../helpers/webhook-receiver.ts';

let pages: RunningConsole;
let browser: Browser;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await webhookReceiver();
  pages = await runningConsole({
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: 'a secret that both sides know',
    NOTIFICATION_TRIES: '1',
    NOTIFICATION_RETRY_SECONDS: '1',
    FX_ACCESS_KEY: 'hunter2',
  });
  browser = await consoleBrowser(pages);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
  await receiver.die();
});
beforeEach(() => browser.page.context().clearCookies());

/** How wide a list of choices would be if none of them were cut off, in CSS pixels. */
const widthOfChoices = (list: Locator): Promise<number> =>
  list.evaluate(select => {
    const copy = select.cloneNode(true);
    copy.style.inlineSize = 'max-content';
    select.after(copy);
    const { width } = copy.getBoundingClientRect();
    copy.remove();
    return width;
  });

const asAdmin = (path: string) => logIn(browser.page, `${pages.url}${path}`, ADMIN.username, ADMIN.password);

test('an administrator finds a new user, activates them, and finds that in the audit', async () => {
  const { page } = browser;
  const person = {
    email: 'zawadi@example.org',
    password: 'maize in the rain',
    name: '<img src=x onerror=alert(1)>',
    surname: 'Mwangi',
  };
  await pages.send('POST', '/trace/api/user/register', person, { origin: pages.url });
  await asAdmin('/administration/users?status=UNCONFIRMED');
  await page.getByText('<img src=x onerror=alert(1)> Mwangi').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Manage zawadi@example.org' }).click();
  const dialog = page.getByRole('dialog');
  await expectAccessible(page);
  await dialog.getByRole('heading', { name: `${person.name} Mwangi` }).waitFor();
  await dialog.getByText('Address not confirmed').waitFor();
  await dialog.getByRole('button', { name: 'Confirm address and activate' }).click();
  await dialog.getByText('By activating the account, you vouch that the address is theirs').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Manage zawadi@example.org' }).click();
  await dialog.getByRole('button', { name: 'Create confirmation link' }).click();
  await dialog.getByText('Give this link to zawadi@example.org yourself').waitFor();
  await dialog.getByText(`${pages.url}/confirm-email/`).waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Confirm address', exact: true }).click();
  await page.getByText('No matching users').waitFor();
  await page.getByLabel('Status').selectOption('CONFIRMED_EMAIL');
  await page.getByRole('button', { name: 'Manage zawadi@example.org' }).click();
  await dialog.getByRole('button', { name: 'Activate' }).click();
  await page.getByText('zawadi@example.org activated').waitFor();
  const user = await pages.login(person.email, person.password);
  const { id } = (await user.send('GET', '/trace/api/user/profile')).body.data;

  await page.getByRole('link', { name: 'Audit' }).click();
  await page.getByLabel('Record ID').fill(String(id));
  await page.getByLabel('Record ID').press('Enter');
  const activated = page.getByRole('row', { name: `activated the account of ${person.name} Mwangi` });
  await activated.getByText('Waiting for activation').waitFor();
  await activated.getByText('Active', { exact: true }).waitFor();
  await activated.getByText('Details', { exact: true }).click();
  await activated.getByText('"ACTIVATE_USER"').waitFor();
  await page
    .getByRole('link', { name: `${person.name} Mwangi` })
    .first()
    .waitFor();
  expect(new URL(page.url()).searchParams.get('entityId')).toBe(String(id));
  await expectAccessible(page);

  await page.goto(`${pages.url}/administration/users?query=zawadi`);
  await page.getByRole('button', { name: 'Manage zawadi@example.org' }).click();
  await dialog.getByRole('button', { name: 'Make an administrator' }).click();
  await dialog.getByText('zawadi@example.org will be able to do everything').waitFor();
  await expect.poll(() => isFocused(dialog.getByRole('button', { name: 'Cancel' }))).toBe(true);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Make an administrator' }).click();
  await page.getByRole('cell', { name: 'Administrator', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Manage zawadi@example.org' }).click();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await dialog.getByText('zawadi@example.org will be logged out everywhere').waitFor();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('cell', { name: 'Deactivated' }).waitFor();
  expect((await user.send('GET', '/trace/api/user/profile')).status).toBe(401);
  expect(realComplaints(browser)).toEqual([]);
});

test('the activity of a user is one click away, and an erased account has no actions', async () => {
  const { page } = browser;
  const { id, email } = await pages.newUser();
  await pages.login(email);
  const { send } = await pages.login(ADMIN.username, ADMIN.password);
  expect((await send('POST', '/trace/api/user/admin/execute/DEACTIVATE_USER', { id })).status).toBe(200);
  await asAdmin(`/administration/users?query=${email}`);
  await page.getByRole('button', { name: `Manage ${email}` }).click();
  await page.getByRole('link', { name: 'Activity' }).click();
  const byAdmin = page.getByRole('row', { name: 'deactivated the account of' });
  await byAdmin.waitFor();
  await page.getByRole('row', { name: 'logged in' }).first().waitFor();
  await expectAccessible(page);
  await page.getByLabel('Entries').selectOption({ label: 'By this person' });
  await byAdmin.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: 'logged in' }).first().waitFor();

  expect((await send('POST', '/trace/api/user/admin/erase', { id })).status).toBe(200);
  await page.goto(`${pages.url}/administration/users?query=erased-${id}-`);
  const erased = page.getByRole('row').filter({ hasText: `erased-${id}-` });
  await erased.getByText('Erased', { exact: true }).waitFor();
  expect(await erased.getByRole('button').count()).toBe(0);
  expect(realComplaints(browser)).toEqual([]);
});

test('users and the audit continue after the last row, in spite of new rows', async () => {
  const { page } = browser;
  await pages.query(
    'trace_backend',
    `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
     SELECT 'many-' || n, 'many-' || n, '', 'Ana', 'Uwase', 'EN', 'ACTIVE', 'USER', now() FROM generate_series(1, 60) AS n`,
  );
  const asked: URL[] = [];
  page.on('request', request => asked.push(new URL(request.url())));
  await asAdmin('/administration/users?query=many-');
  const rows = page.locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(50);
  await pages.query(
    'trace_backend',
    `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
     VALUES ('many-more', 'many-more', '', 'Ana', 'Uwase', 'EN', 'ACTIVE', 'USER', now())`,
  );
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => rows.count()).toBe(60);
  await pages.query(
    'trace_backend',
    `INSERT INTO audit (at, action, entity, entity_id, address, details)
     SELECT now(), 'MANY', 'thing', n, '2001:db8:12:34:56:78:9a:bc', '{"fields": ["headquarters.hondurasMunicipality", "certifications"]}'
     FROM generate_series(1, 60) AS n`,
  );
  await page.goto(`${pages.url}/administration/audit?action=MANY`);
  await rows.first().waitFor();
  const table = page.getByRole('region', { name: 'Audit' });
  expect(await table.evaluate(node => node.scrollWidth - node.clientWidth)).toBe(0);
  await expect.poll(() => rows.count()).toBe(50);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => rows.count()).toBe(60);
  const lists = asked.filter(({ pathname }) => pathname.endsWith('/list'));
  expect(lists.some(({ searchParams }) => searchParams.has('after'))).toBe(true);
  expect(lists.some(({ searchParams }) => searchParams.has('offset'))).toBe(false);
  expect(realComplaints(browser)).toEqual([]);
});

test('a typed filter is applied by a button; one that the service refuses shows why, and no rows', async () => {
  const { page } = browser;
  await asAdmin('/administration/audit');
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  await page.getByLabel('User name or email').fill(ADMIN.username.slice(1).toUpperCase());
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.has('user')).toBe(true);
  const controls = page.locator('.filters :is(input, select)');
  const heights = await controls.evaluateAll(all => all.map(one => one.getBoundingClientRect().height));
  expect(new Set(heights).size).toBe(1);
  await page.getByLabel('Action').selectOption('LOGIN');
  await page.getByRole('cell', { name: ADMIN.username }).first().waitFor();
  await page.getByRole('cell', { name: 'logged in' }).first().waitFor();
  await expectAccessible(page);
  await page.getByLabel('User name or email').fill('nobody at all');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('No matching entries').waitFor();
  await page.goto(`${pages.url}/administration/audit?userId=Grace`);
  await page.getByRole('alert').getByText('Please write a whole number').waitFor();
  expect(await rows.count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove filters' }).click();
  await rows.first().waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);

  await page.goto(`${pages.url}/administration/settings`);
  await page.getByRole('searchbox').fill('fx_access');
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect.poll(() => rows.count()).toBe(1);
});

test('choosing a filter applies what is typed into the others, and loses none of it', async () => {
  const { page } = browser;
  const { email } = await pages.newUser();
  const query = () => new URL(page.url()).search;
  await asAdmin('/administration/users');
  await page.getByRole('searchbox').fill(email);
  await page.getByLabel('Status').selectOption('ACTIVE');
  await expect.poll(query).toBe(`?query=${encodeURIComponent(email)}&status=ACTIVE`);
  expect(await page.getByRole('searchbox').inputValue()).toBe(email);
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  await page.getByRole('searchbox').fill('not applied yet');
  await page.getByRole('button', { name: 'Remove filters' }).click();
  await expect.poll(query).toBe('');
  expect(await page.getByRole('searchbox').inputValue()).toBe('');

  await page.goto(`${pages.url}/administration/audit`);
  await page.getByLabel('Record ID').fill('7');
  await page.getByLabel('To', { exact: true }).fill('2026-01-31');
  await page.getByLabel('Action').selectOption('LOGIN');
  await expect.poll(query).toBe('?entityId=7&to=2026-01-31&action=LOGIN');
  expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2026-01-31');
});

/** Messages of an area in a language. */
async function messagesOf(language: string, area: string): Promise<Record<string, string>> {
  return JSON.parse(await readFile(path.join('messages', language, `${area}.json`), 'utf8'));
}

test('every action and kind of record in the audit has a name of its own, and others keep their codes', async () => {
  const { send } = await pages.login(ADMIN.username, ADMIN.password);
  const { actions, entities } = (await send('GET', '/trace/api/audit/actions')).body.data;
  const KIND = 'audit.kind.';
  for (const language of MESSAGE_LANGUAGES) {
    const names = await messagesOf(language, 'audit');
    if (language === 'en') expect(Object.keys(names).sort()).toEqual(actions);
    expect(new Set(Object.values(names)).size, language).toBe(Object.keys(names).length);
    const messages = Object.entries(await messagesOf(language, 'administration'));
    const kinds = messages.filter(([key]) => key.startsWith(KIND));
    if (language === 'en') expect(kinds.map(([key]) => key.slice(KIND.length)).sort()).toEqual(entities);
    expect(new Set(kinds.map(([, name]) => name)).size, language).toBe(kinds.length);
  }
  const { page } = browser;
  await pages.query(
    'trace_backend',
    "INSERT INTO audit (at, action, entity, entity_id, address, details) VALUES (now(), 'OF_BEFORE', 'earlier_kind', 1, '', '{}'), (now(), 'MAKE_KEY', 'signing_key', 1, '', '{}')",
  );
  await pages.query(
    'trace_backend',
    `INSERT INTO audit (at, action, entity, entity_id, address, details)
     VALUES (now(), 'UPDATE_SETTING', 'setting', 'INSTANCE_NAME', '', '{"fields":["value","isPublic"]}'),
       (now(), 'LOGIN_FAILED', 'user', '0a8f4c21d39b7e65', '', '{"reason":"CONFIRMED_EMAIL"}')`,
  );
  await asAdmin('/administration/audit');
  await page.getByRole('cell', { name: 'OF_BEFORE' }).waitFor();
  await page.getByRole('link', { name: 'earlier_kind 1' }).waitFor();
  await page.getByText('changed the setting Instance name').waitFor();
  await page.getByText('Changed: Value, Readable without a login').waitFor();
  await page.getByText('Reason: No administrator had activated the account yet').waitFor();
  await chooseLanguage(page, 'de');
  await page.getByRole('cell', { name: 'hat sich angemeldet' }).first().waitFor();
  await page.getByLabel('Aktion').selectOption({ label: 'Anmeldung' });
  await expect.poll(() => new URL(page.url()).searchParams.get('action')).toBe('LOGIN');
  await expectAccessible(page);
  await page.goto(`${pages.url}/administration/audit`);
  await page.getByLabel('Art des Eintrags').selectOption({ label: 'Signaturschlüssel' });
  await expect.poll(() => new URL(page.url()).searchParams.get('entity')).toBe('signing_key');
  await page.getByText('Das Programm hat einen Signaturschlüssel für Anmeldungen erzeugt').first().waitFor();
  await chooseLanguage(page, 'en');
});

test('a second factor can be removed from those who have one', async () => {
  const { page } = browser;
  const [has, hasNot] = [await pages.newUser(), await pages.newUser()];
  const { send } = await pages.login(has.email);
  await withSecondFactor({ send: (method, path, body) => send(method, `/trace${path}`, body) });
  await asAdmin('/administration/users');
  const dialog = page.getByRole('dialog');
  const remove = dialog.getByRole('button', { name: 'Remove the second factor' });
  const known = page.waitForResponse(`**/api/user/admin/profile/${hasNot.id}`);
  await page.getByRole('button', { name: `Manage ${hasNot.email}` }).click();
  await (await known).finished();
  await dialog.getByRole('button', { name: 'Make an administrator' }).waitFor();
  expect(await remove.count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: `Manage ${has.email}` }).click();
  await remove.click();
  await dialog.getByText('then needs only the password').waitFor();
  await remove.click();
  await page.getByText(`Second factor of ${has.email} removed`).waitFor();
});

test('the dialog shows the refusal of the service', async () => {
  const { page } = browser;
  const { email, id } = await pages.newUser();
  await asAdmin(`/administration/users?query=${email}`);
  await page.getByRole('button', { name: `Manage ${email}` }).click();
  await pages.query('trace_backend', 'DELETE FROM sessions WHERE user_id = $1', [id]);
  await pages.query('trace_backend', 'DELETE FROM users WHERE id = $1', [id]);
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByText('can no longer log in').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('alert').getByText('User not found').waitFor();
});

test('a failed notification is delivered again, shows when it fails again, and is dismissed', async () => {
  const { page } = browser;
  const [ana, ben] = [await pages.newUser(), await pages.newUser()];
  const ben2 = await pages.login(ben.email);
  await ben2.send('PUT', '/trace/api/user/profile', { discoverable: true });
  const sender = await pages.login(ana.email);
  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const { packet_uuid } = (await sender.send('POST', '/packet/intake/scouting', observation)).body;
  receiver.behaviour = 'fail';
  const share = { packet_id: packet_uuid, contact_value: ben.email };
  expect((await sender.send('POST', '/packet/shares', share)).status).toBe(201);
  await eventually(
    () => pages.query('packet_service', "SELECT FROM notification_deliveries WHERE status = 'dead'"),
    rows => rows.length === 1,
  );
  await asAdmin('/');
  await page.getByRole('link', { name: '1 notification could not be delivered' }).click();
  await page
    .getByRole('row', {
      name: new RegExp(
        `A shared packet Webhook Ana Uwase ${ben.email} Ana Uwase 1 last .* the receiver returned 503`,
      ),
    })
    .waitFor();
  expect(await page.getByRole('link', { name: 'A shared packet' }).getAttribute('href')).toBe(
    `/packets/${packet_uuid}`,
  );
  await page.getByRole('heading', { name: 'Email' }).first().waitFor();
  expect(await page.getByRole('heading', { name: 'Failed', exact: true }).count()).toBe(0);
  await expectAccessible(page);
  const row = page.getByRole('row').filter({ hasText: ben.email });
  const press = async (name: string) => {
    await row.getByRole('button', { name }).click();
    await page.getByRole('dialog').getByRole('button', { name }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  expect(await row.getByRole('link', { name: ben.email }).getAttribute('href')).toBe(`mailto:${ben.email}`);
  await press('Send again');
  await row.getByText('and failed again').waitFor();
  await row.getByRole('cell', { name: /^2 last/ }).waitFor();
  await expectAccessible(page);
  await page.reload();
  await row.getByText('and failed again').waitFor();
  receiver.behaviour = 'take';
  await press('Send again');
  await page.getByText('1 delivery will be retried').waitFor();
  await page.getByRole('row', { name: /Delivered$/ }).waitFor();
  await page.reload();
  await page.getByText('Nothing has failed').waitFor();
  expect((await receiver.hooksAbout(packet_uuid)).length).toBeGreaterThan(0);
  await page.getByRole('link', { name: 'Audit' }).click();
  const replayed = page.getByRole('row').filter({ hasText: 'had failed notifications delivered again' });
  await replayed.first().getByText('To: Ana Uwase').waitFor();

  receiver.behaviour = 'fail';
  const other = (await sender.send('POST', '/packet/intake/scouting', observation)).body.packet_uuid;
  await sender.send('POST', '/packet/shares', { ...share, packet_id: other });
  await page.getByRole('link', { name: 'Home' }).first().click();
  // Home reloads automatically.
  await page.getByRole('link', { name: '1 notification could not be delivered' }).click({ timeout: 60_000 });
  await press('Dismiss');
  await page.getByText('Dismissed').waitFor();
  await page.getByText('Nothing has failed').waitFor();
  await page.goto(`${pages.url}/administration/audit?part=CONCERNED&userId=${ben.id}`);
  await page.getByText('dismissed a failed notification').waitFor();
  await page.goto(pages.url);
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  await page.getByRole('link', { name: 'No backups yet' }).waitFor();
  expect(await page.getByText('could not be delivered').count()).toBe(0);
});

test('health, backups and the last minutes are shown, and so are the settings without secrets', async () => {
  const { page } = browser;
  await asAdmin('/administration/health');
  await page.getByText('There are no backups: if the server is lost, everything is lost.').waitFor();
  await page
    .getByRole('img', { name: /^Memory: up to \d/ })
    .first()
    .waitFor();
  await expectAccessible(page);
  await page
    .getByText(/^Top of the chart: \d/)
    .first()
    .waitFor();
  await chooseLanguage(page, 'fr');
  await page.getByRole('heading', { name: 'Service de paquets' }).first().waitFor();
  expect(await page.getByRole('heading', { name: 'Packet service' }).count()).toBe(0);
  await page.getByText('L’horloge est à l’heure').waitFor();
  await page.getByText('En marche').first().waitFor();
  await chooseLanguage(page, 'en');
  await page.getByRole('link', { name: 'Backup instructions' }).click();
  await page.getByText('npx fieldtrace backup verify').waitFor();
  await page.getByText("BACKUP_KEY='a passphrase").waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('row', { name: /^BACKUP_URL not set/ }).waitFor();
  await page.getByRole('row', { name: /^PASSWORD_POLICY strict default/ }).waitFor();
  await page.getByRole('row', { name: /^NOTIFICATION_TRIES 1 set Default: 20/ }).waitFor();
  expect(await page.getByRole('main').innerText()).not.toContain('administration.');
  await expectAccessible(page);
  await chooseLanguage(page, 'de');
  await page.getByRole('cell', { name: 'Passwort des ersten SYSTEM_ADMIN' }).waitFor();
  await chooseLanguage(page, 'en');
  await page.getByRole('cell', { name: 'password of the first SYSTEM_ADMIN' }).waitFor();
  const show = page.getByLabel('Show');
  await show.selectOption({ label: 'Only those that are not set' });
  await page.getByRole('cell', { name: 'BACKUP_URL' }).waitFor();
  await expect.poll(() => page.getByRole('cell', { name: 'PASSWORD_POLICY' }).count()).toBe(0);
  expect(await widthOfChoices(show)).toBeLessThanOrEqual((await show.boundingBox())?.width ?? 0);
  await show.selectOption({ label: 'Only those that are set' });
  await expect.poll(() => page.getByRole('cell', { name: 'BACKUP_URL' }).count()).toBe(0);
  await page.getByRole('cell', { name: 'FX_ACCESS_KEY' }).waitFor();
  expect(await page.getByRole('row', { name: /FX_ACCESS_KEY/ }).innerText()).toContain('***');
  expect(await page.content()).not.toContain('hunter2');
  await expectAccessible(page);
});

test('the name of the instance is changed in the settings, and everyone sees it', async () => {
  const { page } = browser;
  await asAdmin('/administration/settings');
  const elsewhere = await page.context().newPage();
  await elsewhere.goto(pages.url);
  await elsewhere.getByRole('banner').getByText('fieldtrace').waitFor();
  await page.getByLabel('Instance name').fill('Kivu <i>Growers</i>');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Instance name saved').waitFor();
  await page.getByRole('banner').getByText('Kivu <i>Growers</i>').waitFor();
  // In the other tab, too.
  await elsewhere.getByRole('banner').getByText('Kivu <i>Growers</i>').waitFor();
  await elsewhere.close();
  await page.setViewportSize({ width: 1280, height: 720 });
  const menu = await page.getByRole('button', { name: 'Your menu' }).boundingBox();
  expect((menu?.y ?? 721) + (menu?.height ?? 0)).toBeLessThanOrEqual(720);
  await logOut(page);
  await page.reload();
  await page.getByText('Kivu <i>Growers</i>').waitFor();
});

test('other users have neither these screens nor their data', async () => {
  const { page } = browser;
  const { email } = await pages.newUser();
  await logIn(page, `${pages.url}/administration/users`, email);
  await page.getByRole('heading', { name: 'You don’t have access' }).waitFor();
  expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
  const { send } = await pages.login(email);
  for (const path of [
    '/packet/administration/dead-letters',
    '/trace/api/administration/settings',
    '/trace/api/audit/list',
  ]) {
    expect((await send('GET', path)).status, path).toBe(403);
  }
});
