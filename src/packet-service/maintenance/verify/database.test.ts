import { execFile } from 'node:child_process';
import { appendFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256, upload } from '../../../../test/helpers/attachments.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { openFileStore } from '../../../platform/files/index.ts';
import { readSettings } from '../../../platform/settings/settings.ts';
import { newUlid, ulidToUuid } from '../../core/packet-format/ulid.ts';
import { erasePacket } from '../erasure/erase.ts';
import { verifyDatabase } from './verify.ts';

let folder: string;
let removeFolder: () => Promise<void>;
let service: RunningService;
let thread: string;
/** an observation with an attachment that has its file, a message with further GeoIDs, and one that was erased */
let observation: string;
let message: string;
let erased: string;
let attachment: string;

beforeAll(async () => {
  ({ folder, remove: removeFolder } = await temporaryFolder());
  service = await runningService({ DATA_DIR: folder });
  thread = (await make('/chat/threads', { name: 'Rust', created_by: 'ana' })).thread_id;
  attachment = (await upload(service, 'leaf')).body.attachment_id;
  observation = (await make('/intake/scouting', { ...seen, attachments: [attachment] })).packet_uuid;
  message = (await make('/intake/chat-message', { ...said, geoids: ['g', 'h'] })).packet_uuid;
  const file = (await upload(service, 'gone')).body.attachment_id;
  erased = (await make('/intake/chat-message', { ...said, attachments: [file] })).packet_uuid;
  await erasePacket({ connection: service.connection, files: files(), patienceMs: 0 }, erased, 'asked for');
});
afterAll(async () => {
  await service.stop();
  await removeFolder();
});

const seen = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
const said = {
  text: 'Rust',
  from_user: 'ana',
  get thread_id() {
    return thread;
  },
};
const files = () => openFileStore(readSettings({ DATA_DIR: folder }));

// biome-ignore lint/suspicious/noExplicitAny: answers of several endpoints
async function make(where: string, body: object): Promise<any> {
  const answer = await service.send('POST', where, body);
  expect(answer.status, answer.text).toBe(where === '/intake/batch' ? 200 : 201);
  return answer.body;
}

async function verify(threads = 1) {
  const mismatches: string[] = [];
  const erasures: string[] = [];
  const counts = await verifyDatabase({
    connection: service.connection,
    files: files(),
    threads,
    onMismatch: ({ subject, fault }) => mismatches.push(`${subject}: ${fault}`),
    onErased: ({ packetId }) => erasures.push(packetId),
  });
  expect(counts.mismatches).toBe(mismatches.length);
  return { counts, mismatches: mismatches.sort(), erasures };
}

/** Makes changes that only an attacker who controls the database can make, and undoes them after `work`. */
async function forged(statements: string[], work: () => Promise<void>): Promise<void> {
  const tables = ['packets', 'packet_geoids', 'packet_attachments', 'packet_log', 'chat_messages'];
  await service.pool.query(`GRANT UPDATE, DELETE ON ${tables.join(', ')} TO CURRENT_USER`);
  for (const table of [...tables, 'erasures', 'attachments', 'attachment_contents']) {
    await service.pool.query(`CREATE TABLE IF NOT EXISTS kept_${table} AS SELECT * FROM ${table}`);
  }
  for (const statement of statements) {
    expect((await service.pool.query(statement)).rowCount, statement).toBe(1);
  }
  try {
    await work();
  } finally {
    for (const table of [...tables, 'erasures', 'attachments', 'attachment_contents']) {
      await service.pool.query(`DELETE FROM ${table}`);
      await service.pool.query(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
    }
  }
}

test('everything that was stored is found unaltered, and an erased packet is reported', async () => {
  const { counts, mismatches, erasures } = await verify();
  expect(mismatches).toEqual([]);
  expect(erasures).toEqual([erased]);
  expect(counts).toEqual({
    packets: 3,
    erased: 1,
    messages: 1,
    attachments: 1,
    files: 1,
    bytes: 4,
    entries: 4,
    mismatches: 0,
  });
});

/** The forged values as SQL literals, and the wording of packet faults. */
function literals() {
  const [packet, chat, gone] = [observation, message, erased].map(id => `'${ulidToUuid(id)}'`);
  const other = `'${ulidToUuid(newUlid())}'`;
  const stray = newUlid();
  const of = (id: string, ...faults: string[]) => faults.map(fault => `packet ${id}: ${fault}`);
  const strayOf = (table: string) => of(stray, `is not there, and ${table} names it`);
  return { packet, chat, gone, other, stray, of, strayOf };
}

async function expectNamed(forgeries: readonly [string, string[] | RegExp][]): Promise<void> {
  for (const [statement, expected] of forgeries) {
    await forged([statement], async () => {
      const { mismatches } = await verify();
      if (expected instanceof RegExp) expect(mismatches.join('\n'), statement).toMatch(expected);
      else expect(mismatches, statement).toEqual(expected.sort());
    });
  }
  expect((await verify()).mismatches).toEqual([]);
}

test('each column and row that differs from what was hashed is named', async () => {
  const { packet, chat, other, stray, of, strayOf } = literals();
  const forgeries: [string, string[] | RegExp][] = [
    [
      `UPDATE packets SET body = replace(body, '"lat":1', '"lat":3') WHERE id = ${packet}`,
      /its hash is .*packets.lat/s,
    ],
    [`UPDATE packets SET body = left(body, 9) WHERE id = ${packet}`, /its hash is .*packets.body/s],
    [`UPDATE packets SET header = '' WHERE id = ${packet}`, /packets.header/],
    [`UPDATE packets SET footer = '{}' WHERE id = ${packet}`, /Footer says none/],
    [`UPDATE packets SET footer = left(footer, -1) WHERE id = ${packet}`, /packets.footer/],
    [
      `UPDATE packets SET geoid = 'forged' WHERE id = ${packet}`,
      of(observation, 'packet_log.geoid_key', 'packets.geoid'),
    ],
    [`UPDATE packets SET cell = cell + 1 WHERE id = ${packet}`, of(observation, 'packets.cell')],
    [`DELETE FROM packet_attachments WHERE packet_id = ${packet}`, of(observation, 'packet_attachments')],
    [`INSERT INTO packet_geoids SELECT '${ulidToUuid(stray)}', 'g', now()`, strayOf('packet_geoids')],
    [`INSERT INTO packet_attachments SELECT '${ulidToUuid(stray)}', ${other}`, strayOf('packet_attachments')],
    [
      `DELETE FROM packet_geoids WHERE packet_id = ${chat} AND geoid = 'h'`,
      of(message, 'chat_messages.geoids', 'packet_geoids'),
    ],
    [`UPDATE chat_messages SET text = 'forged' WHERE packet_id = ${chat}`, of(message, 'chat_messages.text')],
    [`DELETE FROM chat_messages WHERE packet_id = ${chat}`, of(message, 'chat_messages')],
    [
      `INSERT INTO chat_messages SELECT ${other}, ts, packet_id, text, folded, geoid, geoids, sent, pieces
       FROM chat_messages WHERE packet_id = ${chat}`,
      of(message, 'chat_messages has a row that is not its message'),
    ],
  ];
  await expectNamed(forgeries);
});

test('each fault of the log, of erasures and of attachments is named', async () => {
  const { packet, chat, gone, other, stray, of, strayOf } = literals();
  const forgeries: [string, string[] | RegExp][] = [
    [`UPDATE packet_log SET kind = 'packet' WHERE packet_id = ${chat}`, of(message, 'packet_log.kind')],
    [
      `UPDATE packet_log SET thread_id = ${other} WHERE packet_id = ${chat}`,
      of(message, 'packet_log.thread_id'),
    ],
    [
      `UPDATE packet_log SET packet_id = '${ulidToUuid(stray)}' WHERE packet_id = ${packet}`,
      [...of(observation, 'packet_log has 0 entries of it'), ...strayOf('packet_log')],
    ],
    [
      `INSERT INTO packet_log (position, packet_id, geoid_key, kind) SELECT position + 6, packet_id, geoid_key, kind
       FROM packet_log WHERE packet_id = ${packet}`,
      [...of(observation, 'packet_log has 2 entries of it'), 'packet_log: positions 5 to 6 have no entry'],
    ],
    [`UPDATE packet_log SET packet_id = NULL WHERE packet_id = ${packet}`, /names no packet/],
    [
      `DELETE FROM packet_log WHERE packet_id = ${packet}`,
      [...of(observation, 'packet_log has 0 entries of it'), 'packet_log: position 1 has no entry'],
    ],
    [
      `DELETE FROM packet_log WHERE kind = 'erased'`,
      of(erased, 'packet_log does not say that it was erased'),
    ],
    [`DELETE FROM erasures`, of(erased, 'its erasure is not recorded')],
    [`UPDATE packets SET body = '{"text":"Rust"}' WHERE id = ${gone}`, of(erased, 'packets.body')],
    [
      `UPDATE packets SET erased_at = now() WHERE id = ${packet}`,
      /its erasure is not recorded.*packets.body/s,
    ],
    [
      `DELETE FROM packets WHERE id = ${packet}`,
      [
        ...of(
          observation,
          'is not there, and packet_attachments names it',
          'is not there, and packet_log names it',
        ),
      ],
    ],
    [`DELETE FROM packets WHERE id = ${chat}`, /chat_messages has a row that is not its message/],
    [`UPDATE attachments SET size = 5`, [`attachment ${attachment}: attachments.size`]],
    [
      `DELETE FROM attachment_contents WHERE unused_since IS NULL`,
      [`attachment ${attachment}: attachment_contents`],
    ],
  ];
  await expectNamed(forgeries);
});

test('a missing, short or changed file is named', async () => {
  const file = path.join(folder, 'files/attachments', sha256(Buffer.from('leaf')));
  const changes: [() => Promise<void>, RegExp][] = [
    [() => writeFile(file, 'lead'), /^attachment att_\w+: its file has the hash \w+ and not \w+$/],
    [() => truncate(file, 2), /attachments.size\n.*its file has the hash/],
    [() => appendFile(file, '\n'), /attachments.size\n.*its file has the hash/],
    [() => rm(file), /^attachment att_\w+: its file cannot be read: .*missing/],
  ];
  for (const [change, expected] of changes) {
    await change();
    expect((await verify()).mismatches.join('\n')).toMatch(expected);
    await writeFile(file, 'leaf');
  }
  expect((await verify()).mismatches).toEqual([]);
});

test('thousands of packets, large ones among them, are verified by several threads while more are stored and erased', async () => {
  const items = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      intake: n % 3 === 0 ? 'chat-message' : 'scouting',
      body:
        n % 3 === 0
          ? { ...said, text: `Rust ${n}` }
          : { ...seen, message: 'x'.repeat(n % 500 === 1 ? 40_000 : 9) },
    }));
  for (let n = 0; n < 3; n++) await make('/intake/batch', items(500));
  const storing = async () => {
    for (let n = 0; n < 10; n++) {
      await make('/intake/batch', items(30));
      const { packet_uuid } = await make('/intake/chat-message', { ...said, geoids: [`h${n}`] });
      const erasing = { connection: service.connection, files: files(), patienceMs: 0 };
      await erasePacket(erasing, packet_uuid, 'asked for');
    }
  };
  const [{ counts, mismatches }] = await Promise.all([verify(3), storing()]);
  expect(mismatches).toEqual([]);
  expect(counts.packets).toBeGreaterThanOrEqual(1503);

  const { rows } = await service.pool.query(
    'SELECT id, ts::text FROM packets ORDER BY id OFFSET 1234 LIMIT 1',
  );
  await service.pool.query('GRANT UPDATE ON packets TO CURRENT_USER');
  await service.pool.query(
    `UPDATE packets SET body = replace(body, 'x', 'y') WHERE body LIKE '%xxxxxxxxxx%'`,
  );
  const setTime = (ts: string) =>
    service.pool.query('UPDATE packets SET ts = $2 WHERE id = $1', [rows[0].id, ts]);
  await setTime('2020-01-01T00:00:00Z');
  const forged = await verify(2);
  expect(forged.mismatches.filter(text => text.includes('its hash'))).toHaveLength(13);
  expect(forged.mismatches.filter(text => !text.includes('its hash'))).toContainEqual(
    expect.stringContaining('packets.ts'),
  );
  await service.pool.query(
    `UPDATE packets SET body = replace(body, 'y', 'x') WHERE body LIKE '%yyyyyyyyyy%'`,
  );
  await setTime(rows[0].ts);
});

test('fieldtrace verify prints each mismatch and exits with 1, without one with 0', async () => {
  const { host, port, user, password, database } = service.connection as Record<string, string>;
  const url = new URL(`postgres://${user}:${password}@localhost:${port}/${database}`);
  if (host?.startsWith('/')) url.searchParams.set('host', host);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: url.href, DATA_DIR: folder } as NodeJS.ProcessEnv;
  const cli = path.resolve(import.meta.dirname, '../../../../dist/cli.js');
  const run = (...words: string[]) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>(resolve =>
      execFile(process.execPath, [cli, 'verify', ...words], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      ),
    );
  const whole = await run();
  expect(whole).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/verified [\d,]+ packets \(11 of them erased\).*nothing differs\n$/),
  });
  expect(whole.stdout).toMatch(new RegExp(`^packet ${erased}: was erased on 2\\d{3}-`, 'm'));

  await rm(path.join(folder, 'files/attachments', sha256(Buffer.from('leaf'))));
  const { rows } = await service.pool.query(
    `INSERT INTO trace_backend.users (email, email_key, password, name, surname, language, role, status, created_at)
     VALUES ('ana@example.org', 'ana@example.org', '', 'Ana', 'A', 'EN', 'USER', 'ACTIVE', now()) RETURNING id`,
  );
  await service.pool.query(
    `INSERT INTO trace_backend.images (storage_key, kind, name, content_type, size, user_id, uploaded_at)
     VALUES (gen_random_uuid(), 'document', 'a.pdf', 'application/pdf', 4, $1, now())`,
    [rows[0].id],
  );
  await service.pool.query(
    `INSERT INTO trace_backend.image_uses (storage_key, entity, entity_id)
     SELECT storage_key, 'label_batch', 7 FROM trace_backend.images`,
  );
  const broken = await run('--threads', '1');
  expect(broken.code).toBe(1);
  expect(broken.stdout).toMatch(
    /^attachment att_\w+: its file cannot be read: .*; it belongs to packet \w{26}$/m,
  );
  expect(broken.stdout).toMatch(/^image [\w-]+: its file is missing; it belongs to label batch 7$/m);
  expect(broken.stdout).toMatch(/: 2 mismatches\n$/);
  expect(await run('--threads', '0')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--threads'),
  });
});
