import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packetPersonalData } from '../src/packet-service/maintenance/personal-data/personal-data.ts';
import { makeMailer } from '../src/platform/mail/mail.ts';
import { readSettings } from '../src/platform/settings/settings.ts';
import { openPasswords } from '../src/trace-backend/identity/users/passwords.ts';
import { finishErasures } from '../src/trace-backend/personal-data/erase.ts';
import { storedFiles, upload } from './helpers/attachments.ts';
import { withSecondFactor } from './helpers/authenticator.ts';
import { added, companyOf } from './helpers/chain.ts';
import { eventually } from './helpers/eventually.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { picture, uploadFile } from './helpers/images.ts';
import { type RunningService, runningService } from './helpers/service.ts';
import { ADMIN, type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from './helpers/trace.ts';
import { bearer } from './helpers/user-registry.ts';
import { unzip } from './helpers/zip.ts';

/** Both services over one database and one folder, as one process serves them; mails are files in it. */
let trace: RunningTrace;
let packet: RunningService;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  packet = await runningService({ DATA_DIR: trace.folder }, trace, { registry: trace.registry });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await packet.stop();
  await trace.stop();
});

const tokenOf = ({ cookie }: LoggedIn) => bearer(cookie.slice('trace-accessToken='.length));
/** Asks the packet service as a user, and gives the body of the answer. */
async function sendAs(who: LoggedIn, method: string, route: string, body?: unknown) {
  const answer = await packet.send(method, route, body, tokenOf(who));
  if (answer.status >= 300) throw new Error(`${method} ${route}: ${answer.text}`);
  return answer.body;
}

/** The data of a user in both services. */
interface Traces {
  observation: string;
  message: string;
  thread: string;
  /** named by the observation, and by nothing */
  files: { named: string; loose: string };
}

async function busyUser(who: LoggedIn, friend: LoggedIn, contact: string): Promise<Traces> {
  const token = tokenOf(who);
  const named = (await upload(packet, 'a named file', { headers: token, name: '../leaf rust.jpg' })).body;
  const loose = (await upload(packet, `a loose file of ${who.id}`, { headers: token })).body;
  const { packet_uuid: observation } = await sendAs(who, 'POST', '/intake/scouting', {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: 'Leaf rust',
    attachments: [named.attachment_id],
  });
  const { thread_id: thread } = await sendAs(who, 'POST', '/chat/threads', { name: 'Coffee' });
  await sendAs(who, 'POST', `/chat/threads/${thread}/participants`, { user_ids: [String(friend.id)] });
  const { packet_uuid: message } = await sendAs(who, 'POST', '/intake/chat-message', {
    thread_id: thread,
    text: 'The harvest has begun',
  });
  await eventually(() => marked(who, thread, message));
  await sendAs(who, 'PUT', `/directory/users/${who.id}`, { contacts: [contact], discoverable: true });
  await sendAs(who, 'POST', '/shares', { packet_id: observation, contact_value: friend.email });
  await sendAs(friend, 'POST', '/shares', { packet_id: observation, contact_value: who.email });
  await sendAs(friend, 'POST', '/shares', { packet_id: observation, contact_value: contact });
  await uploadFile(trace, who, 'image', await picture(9, 9).png().toBuffer());
  await added(who, {
    name: 'Tea of the hills',
    company: { id: await companyOf(trace, 'Hills', [who, friend]) },
  });
  return {
    observation,
    message,
    thread,
    files: { named: named.attachment_id, loose: loose.attachment_id },
  };
}

/** Marks a thread as read; whether its mark is at a message, which it is once that is in the log. */
async function marked(who: LoggedIn, thread: string, message: string): Promise<boolean> {
  await sendAs(who, 'PUT', `/chat/threads/${thread}/read`, { message_id: message });
  return (await marksOf(who)).some(position => Number(position) > 0);
}

async function marksOf(who: LoggedIn): Promise<string[]> {
  const { rows } = await trace.pool.query(
    'SELECT read_position FROM packet_service.chat_participants WHERE user_id = $1 AND read_position IS NOT NULL',
    [String(who.id)],
  );
  return rows.map(({ read_position }) => read_position);
}

/** Has a contact that a user lists be proven to be theirs, while invitations to it still wait. */
async function confirm(contact: string): Promise<void> {
  await trace.pool.query(
    "UPDATE packet_service.directory_contacts SET confirmed_at = now(), proof = 'mailed' WHERE contact = $1",
    [contact],
  );
}

async function exported(who: LoggedIn, route = '/api/user/export'): Promise<Map<string, Buffer>> {
  const response = await fetch(trace.url + route, { headers: { cookie: who.cookie } });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip']);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="fieldtrace-user-\d+/);
  return unzip(Buffer.from(await response.arrayBuffer()));
}
const linesOf = (files: Map<string, Buffer>, name: string) =>
  String(files.get(name))
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));

test("a user exports everything that both services store about them, as JSON and files, and nobody else's data", async () => {
  const [user, friend] = [await trace.loggedIn(), await trace.loggedIn()];
  await trace.pool.query('UPDATE users SET discoverable = true WHERE id = ANY ($1)', [[user.id, friend.id]]);
  const left = await busyUser(user, friend, 'ana-elsewhere@example.org');
  const [stranger, another] = [await trace.loggedIn(), await trace.loggedIn()];
  const unseen = await busyUser(stranger, another, 'ben-elsewhere@example.org');
  await withSecondFactor(user);
  const files = await exported(user);

  expect(JSON.parse(String(files.get('about.json')))).toMatchObject({
    user_id: String(user.id),
    packet_service: 'included',
  });
  expect(JSON.parse(String(files.get('trace-backend/account.json')))).toMatchObject({
    id: user.id,
    email: user.email,
    name: 'Ana',
    surname: 'Uwase',
    secondFactor: true,
    recoveryCodes: 10,
  });
  const packets = linesOf(files, 'packet-service/packets.ndjson');
  expect(packets.map(({ Header }) => Header.id).sort()).toEqual([left.observation, left.message].sort());
  for (const line of String(files.get('packet-service/packets.ndjson')).trimEnd().split('\n')) {
    const [, header, body] = /^\{"Header":(.*),"Body":(.*),"Footer":/.exec(line) as RegExpExecArray;
    const hash = createHash('sha256').update(`${header}${body}`).digest('hex');
    expect(JSON.parse(line).Footer.hash).toBe(hash);
  }
  expect(linesOf(files, 'packet-service/threads.ndjson')).toContainEqual(
    expect.objectContaining({
      thread_id: left.thread,
      read_position: Number((await marksOf(user))[0]),
    }),
  );
  expect(linesOf(files, 'packet-service/shares.ndjson')).toHaveLength(2);
  expect(linesOf(files, 'packet-service/notifications.ndjson')).toMatchObject([
    { type: 'share.created', from_user: String(friend.id), contact_value: user.email },
  ]);
  expect(JSON.parse(String(files.get('packet-service/directory.json'))).entry).toMatchObject({
    contacts: [{ contact: 'ana-elsewhere@example.org', confirmed: false }],
  });
  const kept = [...files.entries()].filter(([name]) => name.startsWith('packet-service/files/'));
  expect(kept.map(([name, bytes]) => [name, String(bytes)])).toEqual(
    [
      [`packet-service/files/${left.files.named}-leaf_rust.jpg`, 'a named file'],
      [`packet-service/files/${left.files.loose}-leaf.bin`, `a loose file of ${user.id}`],
    ].sort(),
  );
  expect(linesOf(files, 'trace-backend/memberships.ndjson')).toMatchObject([
    { company: 'Hills', role: 'COMPANY_ADMIN' },
  ]);
  expect(linesOf(files, 'trace-backend/products.ndjson')).toMatchObject([{ name: 'Tea of the hills' }]);
  expect([...files.keys()].filter(name => name.startsWith('trace-backend/files/'))).toHaveLength(1);
  expect(linesOf(files, 'trace-backend/audit.ndjson').map(({ action }) => action)).toContain('EXPORT_USER');
  expect(linesOf(files, 'trace-backend/sessions.ndjson')).toHaveLength(1);

  const texts = [...files].filter(([name]) => /json$/.test(name)).map(([, bytes]) => String(bytes));
  const everything = texts.join('\n');
  expect(everything).not.toMatch(/argon2id|eyJ|ben-elsewhere/);
  for (const other of [stranger.email, another.email, unseen.observation, unseen.thread]) {
    expect(everything).not.toContain(other);
  }
});

test('an archive has every field of a company that its user has created', async () => {
  const user = await trace.loggedIn();
  const chain = await admin.send('PUT', '/api/chain/value-chain', { name: 'Coffee' });
  const { body: uploaded } = await uploadFile(trace, user, 'image', await picture(9, 9).png().toBuffer());
  const { storageKey } = uploaded.data;
  const made = await user.send('POST', '/api/company/create', {
    name: 'Ana Coffee',
    headquarters: { village: 'Rwezamenyo', country: { id: 'RW' } },
    logo: { storageKey },
    mediaLinks: { facebook: 'https://facebook.example/ana' },
    certifications: [{ type: 'ORGANIC' }],
    valueChains: [{ id: chain.body.data.id }],
  });
  expect(made.body).toMatchObject({ status: 'OK' });
  const [company, ...others] = linesOf(await exported(user), 'trace-backend/companies.ndjson');
  expect(others).toEqual([]);
  expect(company).toMatchObject({
    ...{ id: made.body.data.id, status: 'ACTIVE', name: 'Ana Coffee', village: 'Rwezamenyo' },
    ...{ logo: storageKey, media_links: { facebook: 'https://facebook.example/ana' } },
    ...{ certifications: [{ type: 'ORGANIC' }], value_chain_ids: [chain.body.data.id] },
  });
  const { rows } = await trace.pool.query('SELECT * FROM companies WHERE id = $1', [company.id]);
  // What the service makes of the others, and knows of the user.
  const derived = ['folded', 'tokens', 'name_key', 'version', 'created_by'];
  expect(Object.keys(company)).toEqual(
    expect.arrayContaining(Object.keys(rows[0]).filter(column => !derived.includes(column))),
  );
});

test('only a SYSTEM_ADMIN exports other users, and the export is in the audit', async () => {
  const [user, regional] = [await trace.loggedIn(), await trace.loggedIn('REGIONAL_ADMIN')];
  const route = `/api/user/admin/export/${user.id}`;
  for (const who of [user, regional]) expect((await who.send('GET', route)).status).toBe(403);
  const files = await exported(admin, route);
  expect(JSON.parse(String(files.get('trace-backend/account.json'))).email).toBe(user.email);
  const { body } = await admin.send('GET', `/api/audit/list?action=EXPORT_USER&entityId=${user.id}`);
  expect(body.data.items).toMatchObject([{ userId: admin.id }]);
  expect((await admin.send('GET', '/api/user/admin/export/999999')).status).toBe(404);
});

/** Every row of every table of both services, as text. */
async function database(): Promise<string> {
  const { rows: tables } = await trace.pool.query(`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_schema ~ '^(packet_service|trace_backend)' AND table_type = 'BASE TABLE'`);
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await trace.pool.query(`SELECT t::text FROM ${name} AS t`);
    texts.push(...rows.map(({ t }) => t));
  }
  return texts.join('\n');
}

async function mails(): Promise<string> {
  const folder = path.join(trace.folder, 'mail');
  const names = (await readdir(folder).catch(() => [])).filter(name => name.endsWith('.eml'));
  return (await Promise.all(names.map(name => readFile(path.join(folder, name), 'utf8')))).join('\n');
}

test('an erased account is gone from both services for good; packets and data that others rely on stay', async () => {
  const [user, friend] = [await trace.loggedIn(), await trace.loggedIn()];
  await trace.pool.query('UPDATE users SET discoverable = true WHERE id = ANY ($1)', [[user.id, friend.id]]);
  await user.send('PUT', '/api/user/profile', { name: 'Zawadi', surname: 'Nyiramana' });
  const left = await busyUser(user, friend, 'zawadi-elsewhere@example.org');
  await confirm('zawadi-elsewhere@example.org');
  const change = { email: 'zawadi-new@example.org', currentPassword: PASSWORD };
  expect((await user.send('POST', '/api/user/email_change', change)).status).toBe(200);
  const { app } = await withSecondFactor(user);
  for (const address of ['zawadi-elsewhere@example.org', 'zawadi-new@example.org', user.email]) {
    await eventually(async () => (await mails()).includes(`To: ${address}`));
  }
  const identity = new RegExp(`${user.email}|zawadi-|Nyiramana`, 'i');
  expect(await database()).toMatch(identity);

  const erase = (body: object) => user.send('POST', '/api/user/erase', body);
  expect((await erase({ currentPassword: 'wrong' })).status).toBe(400);
  expect((await erase({ currentPassword: PASSWORD })).body.status).toBe('AUTH_ERROR');
  expect((await user.send('GET', '/api/user/profile')).status).toBe(200);
  const gone = await erase({ currentPassword: PASSWORD, code: app.code() });
  expect([gone.status, gone.body.data]).toEqual([200, { complete: true, packetService: true }]);
  expect(gone.headers.getSetCookie().every(line => line.includes('Max-Age=0'))).toBe(true);

  expect((await user.send('GET', '/api/user/profile')).status).toBe(401);
  expect((await packet.send('GET', '/packets', undefined, tokenOf(user))).status).toBe(401);
  const credentials = { username: user.email, password: PASSWORD };
  expect((await trace.send('POST', '/api/user/login', credentials)).status).toBe(401);
  expect((await database()).split('\n').filter(row => identity.test(row))).toEqual([]);
  expect(await mails()).not.toMatch(identity);
  expect(await marksOf(user)).toEqual([]);

  expect(
    (await packet.send('GET', `/packets/${left.observation}/verify`, undefined, tokenOf(friend))).status,
  ).toBe(200);
  const read = await sendAs(friend, 'GET', `/packets/${left.message}`);
  expect(read.Body.text).toBe('The harvest has begun');
  expect((await sendAs(friend, 'GET', '/shares/inbox')).shares).toMatchObject([
    { packet_id: left.observation },
  ]);
  expect(
    (await packet.send('GET', `/attachments/${left.files.named}`, undefined, tokenOf(friend))).status,
  ).toBe(200);
  expect(
    (await packet.send('GET', `/attachments/${left.files.loose}`, undefined, tokenOf(friend))).status,
  ).toBe(404);
  expect((await storedFiles(trace.folder)).some(name => name.startsWith('uploads/'))).toBe(false);

  const profile = await admin.send('GET', `/api/user/admin/profile/${user.id}`);
  expect(profile.body.data).toMatchObject({
    email: expect.stringMatching(new RegExp(`^erased-${user.id}-[0-9a-f]{32}@erased\\.invalid$`)),
    name: 'Erased',
    status: 'DEACTIVATED',
    companyIds: [],
  });
  const revive = await admin.send('POST', '/api/user/admin/execute/ACTIVATE_USER', { id: user.id });
  expect([revive.status, revive.body.errorMessage]).toEqual([400, 'the account has been erased']);
  const again = { email: user.email, password: PASSWORD, name: 'Ana', surname: 'Uwase' };
  expect((await trace.send('POST', '/api/user/register', again)).body.data.id).not.toBe(user.id);
  expect((await sendAs(friend, 'GET', '/shares/inbox')).shares).toHaveLength(1);
});

test('a SYSTEM_ADMIN erases others; the last one stays', async () => {
  const [user, regional] = [await trace.loggedIn(), await trace.loggedIn('REGIONAL_ADMIN')];
  const erase = (by: LoggedIn, id: number) => by.send('POST', '/api/user/admin/erase', { id });
  expect((await erase(regional, user.id)).status).toBe(403);
  expect((await erase(admin, admin.id)).status).toBe(400);
  const last = await admin.send('POST', '/api/user/erase', { currentPassword: ADMIN.password });
  expect(last.body.errorMessage).toContain('last active SYSTEM_ADMIN');
  expect((await erase(admin, user.id)).body.data).toEqual({ complete: true, packetService: true });
  expect((await erase(admin, user.id)).status).toBe(200);
  expect((await user.send('GET', '/api/user/profile')).status).toBe(401);
  expect((await erase(admin, 999_999)).status).toBe(404);
});

test('an erasure whose second half fails is repeated until it is done, whatever happens to another one', async () => {
  const [user, friend, other] = [await trace.loggedIn(), await trace.loggedIn(), await trace.loggedIn()];
  await busyUser(user, friend, 'broken-elsewhere@example.org');
  await confirm('broken-elsewhere@example.org');
  const rename = (from: string, to: string) =>
    trace.pool.query(`ALTER TABLE packet_service.${from} RENAME TO ${to}`);
  await rename('invitation_tokens', 'out_of_reach');
  for (const who of [other, user]) {
    const closed = await who.send('POST', '/api/user/erase', { currentPassword: PASSWORD });
    expect([closed.status, closed.body.data]).toEqual([200, { complete: false, packetService: false }]);
    expect((await who.send('GET', '/api/user/profile')).status).toBe(401);
  }

  const settings = readSettings({ DATA_DIR: trace.folder });
  const packetServiceData = packetPersonalData(settings, trace.connection);
  const services = { mailer: makeMailer(settings), passwords: openPasswords(), packetServiceData };
  const context = { pool: trace.pool, ...services };
  const later = new Date(Date.now() + 3600_000);
  await expect(finishErasures(context, later)).rejects.toThrow('2 accounts could not be erased');
  expect(await database()).toMatch(user.email);
  await rename('out_of_reach', 'invitation_tokens');
  await finishErasures(context, new Date());
  expect(await database(), 'it may still be under way').toMatch(user.email);
  await finishErasures(context, later);
  const identity = new RegExp(`${user.email}|${other.email}|broken-elsewhere`);
  expect((await database()).split('\n').filter(row => identity.test(row))).toEqual([]);
  await packetServiceData.close();
});

test("erasing an account that claims another person's address takes nothing from that person", async () => {
  const [claimant, friend] = [await trace.loggedIn(), await trace.loggedIn()];
  const left = await busyUser(claimant, friend, 'victim@example.org');
  const third = await trace.loggedIn();
  const { packet_uuid: packetId } = await sendAs(third, 'POST', '/intake/scouting', {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
  });
  await sendAs(third, 'POST', '/shares', { packet_id: packetId, contact_value: 'victim@example.org' });
  const waiting = () =>
    trace.pool.query(`SELECT from_user FROM packet_service.shares
      WHERE contact = 'victim@example.org' AND status = 'invited' ORDER BY from_user::int`);
  const toVictim = async () => (await mails()).split('\nTo: victim@example.org').length - 1;
  await eventually(async () => (await toVictim()) === 3);
  expect((await claimant.send('POST', '/api/user/erase', { currentPassword: PASSWORD })).status).toBe(200);
  expect((await waiting()).rows).toEqual([{ from_user: String(friend.id) }, { from_user: String(third.id) }]);
  expect(await toVictim(), 'the mails of others').toBe(2);
  expect((await sendAs(friend, 'GET', `/packets/${left.observation}`)).Header.id).toBe(left.observation);
});

test('an invitation of an address is in the archive of its user, and is erased with the account, also from jobs', async () => {
  const [user, owner, other] = [await trace.loggedIn(), await trace.loggedIn(), await trace.loggedIn()];
  const companyId = await companyOf(trace, 'Inviting', [owner]);
  const typed = user.email.toUpperCase();
  const invite = (email: string) =>
    owner.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', { companyId, email });
  for (const email of [typed, other.email]) expect((await invite(email)).status).toBe(200);
  await eventually(async () => (await mails()).includes(user.email));
  const invitations = linesOf(await exported(user), 'trace-backend/invitations.ndjson');
  expect(invitations).toMatchObject([{ company_id: companyId, email: typed, role: 'COMPANY_USER' }]);
  // The failed mails to the user and of this invitation.
  await trace.pool.query(
    `INSERT INTO failed_mails (mail_id, job, user_id, invitation_id, status, attempts, last_error,
       last_attempt_at)
     SELECT gen_random_uuid(), jsonb_build_object('kind', kind, 'emailKey', email), user_id, invitation_id, 'dead', 3,
       'the mail server answered 451', now()
     FROM (SELECT 'reset' AS kind, '' AS email, id AS user_id, NULL::integer AS invitation_id FROM users
       UNION ALL SELECT 'invited-address', email_key, NULL, id FROM company_address_invitations) AS failed`,
  );
  const failedMails = linesOf(await exported(user), 'trace-backend/failed-mails.ndjson');
  const failed = { status: 'FAILED', attempts: 3, last_error: 'the mail server answered 451' };
  expect(failedMails).toMatchObject([
    { kind: 'reset', ...failed },
    { kind: 'invited-address', ...failed },
  ]);
  expect((await user.send('POST', '/api/user/erase', { currentPassword: PASSWORD })).status).toBe(200);
  const identity = new RegExp(user.email, 'i');
  expect((await database()).split('\n').filter(row => identity.test(row))).toEqual([]);
  expect(await mails()).not.toMatch(identity);
  const { rows } = await trace.pool.query('SELECT email FROM company_address_invitations');
  expect(rows).toEqual([{ email: other.email }]);
  const left = await trace.pool.query(
    'SELECT 1 FROM failed_mails WHERE user_id = $1 OR invitation_id IS NOT NULL',
    [user.id],
  );
  expect(left.rows).toHaveLength(1);
});

test('an account exports and erases nothing that waits for an address its owner has not confirmed', async () => {
  const [thief, owner, friend] = [await trace.loggedIn(), await trace.loggedIn(), await trace.loggedIn()];
  await trace.pool.query('UPDATE users SET email_confirmed_at = NULL WHERE id = $1', [thief.id]);
  const companyId = await companyOf(trace, 'Inviting', [owner]);
  const invitation = { companyId, email: thief.email };
  await owner.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', invitation);
  await trace.pool.query(
    `WITH label AS (INSERT INTO product_labels (uuid, product_id, status, content)
       VALUES (gen_random_uuid(), $1, 'PUBLISHED', '{}') RETURNING id)
     INSERT INTO label_feedback (label_id, email, feedback, answers, at)
     SELECT id, $2, 'of the owner', '{}', now() FROM label`,
    [await added(owner, { name: 'Tea' }), thief.email],
  );
  const observation = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: 'Rust',
  };
  const { packet_uuid } = await sendAs(friend, 'POST', '/intake/scouting', observation);
  await sendAs(friend, 'POST', '/shares', { packet_id: packet_uuid, contact_value: thief.email });

  const files = await exported(thief);
  expect(linesOf(files, 'trace-backend/sessions.ndjson')).toHaveLength(1);
  for (const name of ['invitations', 'feedback']) {
    expect(linesOf(files, `trace-backend/${name}.ndjson`), name).toEqual([]);
  }
  expect((await thief.send('POST', '/api/user/erase', { currentPassword: PASSWORD })).status).toBe(200);
  for (const [table, column] of [
    ['company_address_invitations', 'email'],
    ['label_feedback', 'email'],
    ['packet_service.shares', 'contact'],
  ]) {
    const { rows } = await trace.pool.query(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [thief.email]);
    expect(rows, table).toHaveLength(1);
  }
});

test('a company whose last member is erased stays; a SYSTEM_ADMIN places another', async () => {
  const [last, next] = [await trace.loggedIn(), await trace.loggedIn()];
  const companyId = await companyOf(trace, 'Left alone', [last]);
  const other = await companyOf(trace, 'Asking', [next]);
  const add = (by: LoggedIn, id: number, user: LoggedIn) =>
    by.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', { companyId: id, userId: user.id });
  await add(next, other, last);
  await add(last, companyId, await trace.loggedIn());
  await last.send('POST', '/api/user/erase', { currentPassword: PASSWORD });
  for (const table of ['company_users', 'company_invitations', 'company_inviters']) {
    const { rows } = await trace.pool.query(`SELECT 1 FROM ${table} WHERE user_id = $1`, [last.id]);
    expect(rows, table).toEqual([]);
  }
  expect((await add(admin, companyId, next)).status).toBe(200);
  const { body } = await next.send('GET', `/api/company/profile/${companyId}`);
  expect(body.data.users.map(({ id }: { id: number }) => id)).toContain(next.id);
});

test("a company's data are not in the archive of a user who has left it", async () => {
  const [user, colleague] = [await trace.loggedIn(), await trace.loggedIn()];
  const companyId = await companyOf(trace, 'Kept', [user, colleague]);
  const id = await added(user, { name: 'Secret blend', company: { id: companyId } });
  const own = await added(user, {
    name: 'Own blend',
    company: { id: await companyOf(trace, 'Own', [user]) },
  });
  await colleague.send('POST', '/api/company/execute/REMOVE_USER_FROM_COMPANY', {
    companyId,
    userId: user.id,
  });
  await exported(admin, `/api/user/admin/export/${user.id}`);
  const files = await exported(user);
  expect(linesOf(files, 'trace-backend/products.ndjson').map(product => product.id)).toEqual([own]);
  const changes = linesOf(files, 'trace-backend/product-changes.ndjson');
  expect(changes.map(change => change.product_id)).toContain(id);
  expect(JSON.stringify(changes)).not.toContain('Secret blend');
  const lines = linesOf(files, 'trace-backend/audit.ndjson').filter(line => !line.own);
  expect(lines.map(line => [line.action, line.address])).toEqual([['EXPORT_USER', null]]);
  expect(lines[0]).not.toHaveProperty('user_id');
});

test('an archive is streamed, one at a time per user; the next one can start when it ends', async () => {
  const user = await trace.loggedIn();
  const large = randomBytes(32 * 1024 * 1024);
  await upload(packet, large, { headers: tokenOf(user), name: 'large.bin' });
  const exportData = () => fetch(`${trace.url}/api/user/export`, { headers: { cookie: user.cookie } });
  const first = await exportData();
  expect(first.status).toBe(200);
  const second = await exportData();
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '30']);
  await second.body?.cancel();
  await first.body?.cancel();
  await eventually(async () => {
    const { rows } = await trace.pool.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'",
    );
    return rows.length === 0;
  });
  let files = new Map<string, Buffer>();
  await eventually(async () => {
    const next = await exportData();
    const bytes = Buffer.from(await next.arrayBuffer());
    if (next.status === 200) files = await unzip(bytes);
    return next.status === 200;
  });
  const name = [...files.keys()].find(file => file.endsWith('-large.bin')) as string;
  expect(files.get(name)?.equals(large)).toBe(true);
});

const run = promisify(execFile);
/** Runs a fieldtrace command on the database of the test. */
async function fieldtrace(...words: string[]): Promise<string> {
  const { host, port, user, password, database: name } = trace.connection as Record<string, string>;
  const url = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host as string)}&port=${port}`;
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: url, DATA_DIR: trace.folder } as NodeJS.ProcessEnv;
  return (await run(process.execPath, ['dist/cli.js', ...words], { env })).stdout.trim();
}

test('an operator exports and erases a user by a command, also one of another registry', async () => {
  const { folder, remove } = await temporaryFolder();
  const [user, friend] = [await trace.loggedIn(), await trace.loggedIn()];
  const left = await busyUser(user, friend, 'command-elsewhere@example.org');
  await confirm('command-elsewhere@example.org');
  const [whole, part] = [path.join(folder, 'whole.zip'), path.join(folder, 'part.zip')];
  await fieldtrace('export', 'user', String(user.id), '--to', whole);
  expect((await stat(whole)).mode & 0o777).toBe(0o600);
  const files = await unzip(await readFile(whole));
  expect(JSON.parse(String(files.get('trace-backend/account.json'))).email).toBe(user.email);
  expect(linesOf(files, 'packet-service/packets.ndjson')).toHaveLength(2);
  await expect(fieldtrace('export', 'user', String(user.id), '--to', whole)).rejects.toThrow('EEXIST');
  await expect(fieldtrace('export', 'user', '999999', '--to', part)).rejects.toThrow('no user 999999');

  await fieldtrace('export', 'user', String(user.id), '--to', part, '--service', 'packet');
  const some = await unzip(await readFile(part));
  expect([...some.keys()].every(name => name.startsWith('packet-service/'))).toBe(true);
  await fieldtrace('erase', 'user', String(user.id), '--service', 'packet');
  expect((await database()).split('\n').filter(row => row.includes('command-elsewhere'))).toEqual([]);
  expect((await user.send('GET', '/api/user/profile')).status).toBe(200);
  await fieldtrace('erase', 'user', String(user.id));
  expect((await user.send('GET', '/api/user/profile')).status).toBe(401);
  expect((await sendAs(friend, 'GET', `/packets/${left.observation}`)).Header.id).toBe(left.observation);
  await remove();
}, 180_000);
