import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { emptyDataDir } from '../helpers/data-dir.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { textOf } from '../helpers/mail-server.ts';
import { type RunningProcess, startProcess } from '../helpers/process.ts';
import { sender } from '../helpers/service.ts';

const PASSWORD = 'a password of mine';

/** Registers a user, confirms by the mail in DATA_DIR, activates as the first administrator, and logs in. */
async function newUser(
  process: RunningProcess,
  folder: string,
  email: string,
): Promise<{ id: string; token: string }> {
  const trace = sender(process.traceUrl);
  const post = (route: string, body: object, cookie = '') =>
    trace('POST', `/api/user/${route}`, body, { cookie });
  const registered = await post('register', { email, password: PASSWORD, name: 'Ana', surname: 'Uwase' });
  const { id } = registered.body.data;
  const mails = async () => {
    const names = await readdir(path.join(folder, 'mail')).catch(() => []);
    // A mail that is being written has a name with more behind.
    const files = names.filter(name => name.endsWith('.eml'));
    const texts = await Promise.all(files.map(file => readFile(path.join(folder, 'mail', file), 'utf8')));
    return texts.map(raw => textOf({ raw })).filter(text => text.includes(`To: ${email}`));
  };
  const [mail] = await eventually(mails, found => found.length > 0);
  const token = /^Code: (\S+)$/m.exec(mail as string)?.[1] as string;
  expect((await post('confirm_email', { token, password: PASSWORD })).body.data.status).toBe(
    'CONFIRMED_EMAIL',
  );

  const [username = '', password = ''] = (await readFile(path.join(folder, 'first-admin.txt'), 'utf8')).split(
    '\n',
  );
  const admin = cookieOf(await post('login', { username, password }));
  await post('admin/execute/ACTIVATE_USER', { id }, admin);
  const cookie = cookieOf(await post('login', { username: email, password: PASSWORD }));
  await trace('PUT', '/api/user/profile', { discoverable: true }, { cookie });
  return { id: String(id), token: cookie.slice('trace-accessToken='.length) };
}

const cookieOf = (answer: { headers: Headers }) => answer.headers.getSetCookie()[0]?.split(';')[0] as string;

/** A packet shared with an address reaches the inbox of the user who has it, with the name of the sender. */
async function shareReaches(
  process: RunningProcess,
  email: string,
  user: { id: string; token: string },
  name: string | undefined,
): Promise<void> {
  const bearer = { authorization: `Bearer ${user.token}` };
  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const packet = (await process.send('POST', '/intake/scouting', observation, bearer)).body.packet_uuid;
  const shared = await process.send(
    'POST',
    '/shares',
    { packet_id: packet, contact_value: email.toUpperCase() },
    bearer,
  );
  expect(shared.body).toMatchObject({ status: 'created' });
  const inbox = await process.send('GET', '/shares/inbox?details=true', undefined, bearer);
  expect(inbox.body.shares).toMatchObject([{ packet_id: packet, from_user: user.id, status: 'pending' }]);
  expect(inbox.body.shares[0].from_name).toBe(name);
  const stranger = await process.send('GET', '/shares/inbox', undefined, {
    authorization: `Bearer ${user.token}x`,
  });
  expect(stranger.status).toBe(401);
}

test('the packet service in the same process knows users who log in at the trace backend', async () => {
  const { folder, remove } = await temporaryFolder();
  await emptyDataDir(folder);
  const process = await startProcess({ DATA_DIR: folder, AUTH_MODE: 'required' });
  expect((await stat(path.join(folder, 'first-admin.txt'))).mode & 0o777).toBe(0o600);
  const user = await newUser(process, folder, 'ana@example.org');
  await shareReaches(process, 'ana@example.org', user, 'Ana Uwase');
  process.child.kill('SIGTERM');
  expect(await process.ended, process.output()).toBe(0);
  await remove();
});

test('a remote packet service knows them, too, by the keys and the look-up of the trace backend', async () => {
  const [home, away] = [await temporaryFolder(), await temporaryFolder()];
  await Promise.all([home, away].map(({ folder }) => emptyDataDir(folder)));
  const SERVICE_TOKEN = 'a-token-between-the-two-services';
  const trace = await startProcess({ DATA_DIR: home.folder, SERVICES: 'trace', SERVICE_TOKEN });
  const packet = await startProcess({
    DATA_DIR: away.folder,
    SERVICES: 'packet',
    AUTH_MODE: 'required',
    USER_REGISTRY_JWKS_URL: `${trace.traceUrl}/.well-known/jwks.json`,
    USER_REGISTRY_URL: `${trace.traceUrl}/api`,
    SERVICE_TOKEN,
  });
  const user = await newUser(trace, home.folder, 'ben@example.org');
  await shareReaches(packet, 'ben@example.org', user, undefined);
  for (const { child, ended, output } of [trace, packet]) {
    child.kill('SIGTERM');
    expect(await ended, output()).toBe(0);
  }
  await Promise.all([home.remove(), away.remove()]);
});
