import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { type RequestOptions, request } from 'node:https';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { TUS, TUS_PATCH } from '../helpers/attachments.ts';
import { programPath, testWith } from '../helpers/debian.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { accepts, freePort } from '../helpers/free-port.ts';
import { type RunningService, runningService } from '../helpers/service.ts';
import { ADMIN, type RunningTrace, runningTrace } from '../helpers/trace.ts';

const test = await testWith('nginx', 'caddy', 'openssl');

/** The configurations of deploy/ in front of both services, as a client reaches them over TLS. */
const PROXIES = ['nginx', 'caddy'] as const;
type Proxy = (typeof PROXIES)[number];
const NAMES = { packet: 'field.example', trace: 'trace.example', console: 'console.example' };
/** The variables by which the Caddyfile can be given the addresses. */
const VARIABLES = { packet: 'PUBLIC_URL', trace: 'TRACE_PUBLIC_URL', console: 'CONSOLE_PUBLIC_URL' };
const SITES = ['packet', 'trace', 'console'] as const;
const MIB = 1024 * 1024;

let packet: RunningService;
let trace: RunningTrace;
let files: { folder: string; remove: () => Promise<void> };
/** where nginx listens without TLS */
let plainPort: number;
const started: ChildProcess[] = [];
const ports = {} as Record<Proxy, Record<keyof typeof NAMES, number>>;
beforeAll(async () => {
  files = await temporaryFolder();
  trace = await runningTrace({ TRUST_PROXY: 'true', TRACE_PUBLIC_URL: `https://${NAMES.trace}` });
  packet = await runningService({ TRUST_PROXY: 'true', PUBLIC_URL: `https://${NAMES.packet}` });
  plainPort = await freePort();
  for (const proxy of PROXIES) {
    ports[proxy] = { packet: await freePort(), trace: await freePort(), console: await freePort() };
    await start(proxy);
  }
});
afterAll(async () => {
  for (const child of started) {
    const ended = new Promise(resolve => child.once('close', resolve));
    // Caddy would wait for open connections; nginx has workers to stop.
    child.kill(child.spawnfile === programPath('caddy') ? 'SIGKILL' : 'SIGTERM');
    await ended;
  }
  await packet.stop();
  await trace.stop();
  await files.remove();
});

const portOf = (url: string) => new URL(url).port;

/** A file of deploy/, in front of the services of this test. */
async function deployed(file: string): Promise<string> {
  const text = await readFile(path.join('deploy', file), 'utf8');
  return text
    .replaceAll('{$FIELDTRACE_HOST:127.0.0.1}', '127.0.0.1')
    .replaceAll('127.0.0.1:8000', `127.0.0.1:${portOf(packet.url)}`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${portOf(trace.url)}`);
}

async function start(proxy: Proxy): Promise<void> {
  const folder = path.join(files.folder, proxy);
  await mkdir(folder);
  const child = await (proxy === 'nginx' ? startNginx(folder) : startCaddy(folder));
  started.push(child);
  await eventually(() => accepts(ports[proxy].packet));
  await eventually(() => accepts(ports[proxy].trace));
  await eventually(() => accepts(ports[proxy].console));
}

async function startNginx(folder: string): Promise<ChildProcess> {
  const [key, certificate] = [path.join(folder, 'key.pem'), path.join(folder, 'certificate.pem')];
  const subject = ['-subj', `/CN=${NAMES.packet}`, '-days', '2', '-keyout', key, '-out', certificate];
  await promisify(execFile)(programPath('openssl'), [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    ...subject,
  ]);
  const servers = SITES.reduce(
    (text, site) => text.replace('listen 443 ssl http2;', `listen 127.0.0.1:${ports.nginx[site]} ssl http2;`),
    (await deployed('nginx/fieldtrace.conf')).replace('listen 80;', `listen 127.0.0.1:${plainPort};`),
  )
    .replaceAll(/ssl_certificate \S+;/g, `ssl_certificate ${certificate};`)
    .replaceAll(/ssl_certificate_key \S+;/g, `ssl_certificate_key ${key};`);
  await writeFile(path.join(folder, 'fieldtrace-proxy.conf'), await deployed('nginx/proxy.conf'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    kind => `${kind}_temp_path ${folder}/${kind};`,
  );
  const settings = path.join(folder, 'nginx.conf');
  const user = process.geteuid?.() === 0 ? 'user root;' : '';
  await writeFile(
    settings,
    `${user} daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events {}
http { access_log off; ${temporary.join(' ')}
${servers}}`,
  );
  return spawn(programPath('nginx'), ['-c', settings, '-e', path.join(folder, 'error.log')], {
    stdio: 'ignore',
  });
}

async function startCaddy(folder: string): Promise<ChildProcess> {
  const sites = SITES.reduce(
    (text, site) =>
      text.replace(
        `\n{$${VARIABLES[site]}:https://${NAMES[site]}} {`,
        `\nhttps://${NAMES[site]}:${ports.caddy[site]} {\n  bind 127.0.0.1\n  tls internal`,
      ),
    await deployed('Caddyfile'),
  );
  const settings = path.join(folder, 'Caddyfile');
  const options = '{\n  admin off\n  skip_install_trust\n  auto_https disable_redirects\n}\n';
  await writeFile(settings, options + sites);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const words = ['run', '--adapter', 'caddyfile', '--config', settings];
  return spawn(programPath('caddy'), words, { env, stdio: 'ignore' });
}

interface Content {
  headers?: Record<string, string>;
  body?: Buffer | object;
  service?: keyof typeof NAMES;
}

function options(
  proxy: Proxy,
  method: string,
  where: string,
  { headers, service = 'packet' }: Content,
): RequestOptions {
  return {
    host: '127.0.0.1',
    port: ports[proxy][service],
    servername: NAMES[service],
    // Its certificate is its own.
    rejectUnauthorized: false,
    agent: false,
    method,
    path: where,
    headers: { host: NAMES[service], ...headers },
  };
}

function respond(
  proxy: Proxy,
  method: string,
  where: string,
  content: Content = {},
): Promise<IncomingMessage> {
  const { body } = content;
  const isJson = body !== undefined && !Buffer.isBuffer(body);
  const bytes = isJson ? Buffer.from(JSON.stringify(body)) : (body as Buffer | undefined);
  const headers = {
    ...(isJson && { 'content-type': 'application/json' }),
    ...(bytes && { 'content-length': String(bytes.length) }),
    ...content.headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request(options(proxy, method, where, { ...content, headers }), resolve);
    sent.once('error', reject);
    sent.end(bytes);
  });
}

async function send(proxy: Proxy, method: string, where: string, content: Content = {}) {
  const response = await respond(proxy, method, where, content);
  const bytes = await buffer(response);
  const isJson = response.headers['content-type']?.includes('json');
  return {
    status: response.statusCode,
    headers: response.headers,
    bytes,
    body: isJson && bytes.length > 0 ? JSON.parse(String(bytes)) : undefined,
  };
}

function form(bytes: Buffer): Content {
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="large.bin"\r\n\r\n';
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--x--\r\n')]),
  };
}

test('nginx redirects requests without TLS to the same address with TLS', async () => {
  const plain = {
    host: '127.0.0.1',
    port: plainPort,
    path: '/packets?limit=1',
    headers: { host: NAMES.packet },
  };
  const answer = await new Promise<IncomingMessage>(resolve => get(plain, resolve));
  answer.resume();
  expect([answer.statusCode, answer.headers.location]).toEqual([
    301,
    `https://${NAMES.packet}/packets?limit=1`,
  ]);
});

for (const proxy of PROXIES) {
  test(`${proxy} speaks HTTP/2`, async () => {
    const authority = `https://${NAMES.packet}`;
    const { port } = options(proxy, 'GET', '/', {});
    const tls = {
      host: '127.0.0.1',
      port: Number(port),
      servername: NAMES.packet,
      rejectUnauthorized: false,
    };
    const session = connect(authority, {
      createConnection: () => connectTls({ ...tls, ALPNProtocols: ['h2'] }),
    });
    onTestFinished(() => session.destroy());
    const asked = session.request({ ':path': '/health' });
    const [headers] = await once(asked, 'response');
    expect(headers[':status']).toBe(200);
    expect(JSON.parse(String(await buffer(asked))).status).toBe('OK');
  });

  test(`${proxy} passes the largest file on, both ways, and refuses what no service takes`, async () => {
    const bytes = randomBytes(100 * MIB);
    const uploaded = await send(proxy, 'POST', '/attachments', form(bytes));
    expect(uploaded.status, String(uploaded.bytes)).toBe(201);
    const downloaded = await send(proxy, 'GET', `/attachments/${uploaded.body.attachment_id}`);
    expect(downloaded.status).toBe(200);
    expect(downloaded.bytes.equals(bytes)).toBe(true);
    // The proxy may answer and close while the body is still being sent.
    const refused = await send(proxy, 'POST', '/attachments', form(Buffer.alloc(102 * MIB))).then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect([413, 'EPIPE', 'ECONNRESET']).toContain(refused);
    const closed: [Content['service'], string][] = [
      ['packet', '/metrics'],
      ['trace', '/metrics'],
      ['console', '/packet/metrics'],
      ['console', '/trace/metrics'],
    ];
    for (const [service, where] of closed) {
      for (const written of [where, `${where}/`, where.replace('/m', '/%6d')]) {
        const { status } = await send(proxy, 'GET', written, { service });
        expect(status, `${service} ${written}`).toBe(403);
      }
    }
  });

  test(`${proxy} passes an upload on while it comes: what arrived before a break is kept`, async () => {
    const begun = await send(proxy, 'POST', '/attachments/uploads', {
      headers: { ...TUS, 'upload-length': String(20 * MIB) },
    });
    expect(begun.status).toBe(201);
    const where = new URL(begun.headers.location as string, `https://${NAMES.packet}`).pathname;
    const headers = { ...TUS_PATCH, 'upload-offset': '0', 'content-length': String(20 * MIB) };
    const sent = request(options(proxy, 'PATCH', where, { headers }));
    sent.once('error', () => {});
    await new Promise(resolve => sent.write(randomBytes(10 * MIB), resolve));
    sent.destroy();
    const offset = async () =>
      Number((await send(proxy, 'HEAD', where, { headers: TUS })).headers['upload-offset']);
    await eventually(async () => (await offset()) > MIB);
  });

  test(`${proxy} passes events on as they happen`, async () => {
    const thread = await send(proxy, 'POST', '/chat/threads', { body: { name: 'Kivu', created_by: 'ana' } });
    const feed = await respond(proxy, 'GET', '/events?user_id=ana', {
      headers: { accept: 'text/event-stream' },
    });
    expect([feed.statusCode, feed.headers['content-type']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    let text = '';
    feed.setEncoding('utf8').on('data', chunk => {
      text += chunk;
    });
    await eventually(() => text.includes('id:'));
    const message = { thread_id: thread.body.thread_id, from_user: 'ana', text: 'Habari' };
    const { body } = await send(proxy, 'POST', '/intake/chat-message', { body: message });
    await eventually(() => text.includes(body.packet_uuid));
    feed.destroy();
  });

  test(`${proxy} passes on the client's own address and scheme, whatever the client says`, async () => {
    const login = await send(proxy, 'POST', '/api/user/login', {
      service: 'trace',
      body: ADMIN,
      headers: {
        'x-forwarded-for': '203.0.113.9',
        'x-forwarded-proto': 'http',
        origin: `https://${NAMES.trace}`,
      },
    });
    expect(login.status, String(login.bytes)).toBe(200);
    expect(login.headers['strict-transport-security']).toMatch(/^max-age=\d+/);
    const [access] = login.headers['set-cookie'] as string[];
    expect(access).toContain('; Secure');
    const cookie = (access as string).split(';')[0] as string;
    const sessions = await send(proxy, 'GET', '/api/user/sessions', {
      service: 'trace',
      headers: { cookie },
    });
    expect(sessions.body.data.items[0].address).toBe('127.0.0.1');
    const foreign = { cookie, origin: 'https://evil.example' };
    const body = { name: 'x' };
    expect(
      (await send(proxy, 'PUT', '/api/user/profile', { service: 'trace', headers: foreign, body })).status,
    ).toBe(403);
  });
}
