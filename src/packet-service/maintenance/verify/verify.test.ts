import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { packetHash } from '../../core/packet-format/hash.ts';
import { canonicalJson } from '../../core/packet-format/jcs.ts';
import { newUlid, ulidToUuid } from '../../core/packet-format/ulid.ts';

let service: RunningService;
let thread: string;
beforeAll(async () => {
  service = await runningService();
  thread = (await service.send('POST', '/chat/threads', { name: 'Rust', created_by: 'ana' })).body.thread_id;
});
afterAll(() => service.stop());

const point = { lat: 40.7128, lon: -74.006 };
const observation = { observed_at: '2026-03-01T08:15:00.1234567+03:00', capture_point: point };

async function stored(path: string, body: object): Promise<string> {
  const answer = await service.send('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.packet_uuid;
}

const verified = async (id: string) => (await service.send('GET', `/packets/${id}/verify`)).body;

function finalized(header: object, body: object) {
  const Header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type: 'note', ...header };
  const hash = packetHash(canonicalJson(Header), canonicalJson(body));
  return { Header, Body: body, Footer: { hash, enc: 'none', lang: 'en' } };
}

const say = (more: object = {}) =>
  stored('/intake/chat-message', { thread_id: thread, text: 'Rust İ ﬁn', from_user: 'ana', ...more });

/** Makes a change that only an attacker who controls the database can make, by first granting the right. */
async function forge(table: string, change: string, id: string): Promise<void> {
  const key = table === 'packets' ? 'id' : 'packet_id';
  await service.pool.query(`GRANT UPDATE, DELETE ON ${table} TO CURRENT_USER`);
  const { rowCount } = await service.pool.query(`${change} WHERE ${key} = $1`, [ulidToUuid(id)]);
  await service.pool.query(`REVOKE UPDATE, DELETE ON ${table} FROM CURRENT_USER`);
  expect(rowCount, change).toBe(1);
}

test('packets of every kind are found unaltered', async () => {
  const polygon = {
    type: 'Polygon',
    coordinates: [
      [
        [29, -1],
        [29.001, -1],
        [29.001, -1.001],
        [29, -1],
      ],
    ],
  };
  const attachments = [`att_${newUlid()}`, 'elsewhere.jpg', { id: `att_${newUlid()}` }];
  const ids = [
    await stored('/intake/scouting', { ...observation, attachments }),
    await stored('/intake/scouting', { ...observation, capture_point: { lat: -0, lon: 1e-200 } }),
    await stored('/intake/scouting', { ...observation, capture_point: undefined, geojson: polygon }),
    await stored('/intake/scouting', {
      ...observation,
      capture_point: undefined,
      geojson: { type: 'Feature', geometry: { type: 'Point', coordinates: [29.5, -1.5] } },
    }),
    await stored('/intake/scouting', { ...observation, geoids: ['a further field'], thread_id: thread }),
    await say(),
    await say({ capture_point: point, geoids: ['h', 'i', ''], attachments }),
    await stored('/packets', finalized({}, { capture_point: point, geoids: ['h', 'h', 'g', ''] })),
    await stored('/packets', finalized({}, { capture_point: { lat: 91, lon: 0 } })),
    await stored('/packets', finalized({}, { geojson: { type: 'Point', coordinates: [29.5, -1.5] } })),
    await stored(
      '/packets',
      finalized(
        { type: 'chat_message', timestamp: '2026-03-01T08:15:00.5+03:00', geoid: '' },
        { thread_id: thread.toLowerCase(), text: 'x', from_user: 'ana', geoids: ['h'] },
      ),
    ),
  ];
  for (const id of ids) {
    const { Footer } = (await service.send('GET', `/packets/${id}`)).body;
    const expected = { valid: true, hash: Footer.hash, recomputed: Footer.hash, mismatches: [] };
    expect(await verified(id)).toEqual(expected);
  }
});

test("a changed Body does not match the Footer's hash", async () => {
  const id = await stored('/intake/scouting', { ...observation, message: 'Rust' });
  const whole = await verified(id);
  await forge('packets', `UPDATE packets SET body = replace(body, 'Rust', 'None')`, id);
  const forged = await verified(id);
  expect(forged).toMatchObject({ valid: false, hash: whole.hash, mismatches: [] });
  expect(forged.recomputed).not.toBe(whole.hash);
});

test('sections that are no longer JSON, or have other types, are reported without a failure', async () => {
  for (const [change, mismatches] of [
    [`header = 'forged'`, ['packets.header']],
    [`body = 'null'`, ['packets.body']],
    [`footer = '7'`, ['packets.footer']],
    [`header = '', body = '['`, ['packets.header', 'packets.body']],
    [`header = '{"timestamp":7,"type":[]}'`, expect.arrayContaining(['packets.ts', 'packets.type'])],
    [`body = '{"capture_point":3,"geojson":{"coordinates":5},"attachments":9}'`, expect.any(Array)],
    [`footer = '{}'`, []],
  ] as const) {
    const id = await stored('/intake/scouting', observation);
    await forge('packets', `UPDATE packets SET ${change}`, id);
    expect(await verified(id), change).toMatchObject({ valid: false, mismatches });
  }
});

test('every column that queries look at is compared with what was hashed', async () => {
  const forgeries: [string, string, string][] = [
    ['packets', `UPDATE packets SET geoid = 'forged'`, 'packets.geoid'],
    [
      'packets',
      `UPDATE packets SET ts = (ts AT TIME ZONE 'UTC' + interval '1 microsecond') AT TIME ZONE 'UTC'`,
      'packets.ts',
    ],
    ['packets', `UPDATE packets SET type = 'weather'`, 'packets.type'],
    ['packets', `UPDATE packets SET thread_id = '${ulidToUuid(newUlid())}'`, 'packets.thread_id'],
    ['packets', 'UPDATE packets SET lat = lat + 1', 'packets.lat'],
    ['packets', 'UPDATE packets SET lon = NULL', 'packets.lon'],
    ['packets', 'UPDATE packets SET cell = cell + 1', 'packets.cell'],
    [
      'packet_attachments',
      `UPDATE packet_attachments SET attachment_id = '${ulidToUuid(newUlid())}'`,
      'packet_attachments',
    ],
  ];
  for (const [table, change, mismatch] of forgeries) {
    const id = await stored('/intake/scouting', { ...observation, attachments: [`att_${newUlid()}`] });
    await forge(table, change, id);
    expect(await verified(id), change).toMatchObject({ valid: false, mismatches: [mismatch] });
  }
});

test("a message's row for lists and search is compared with its packet", async () => {
  const forgeries: [string, string[]][] = [
    [`UPDATE chat_messages SET text = 'forged'`, ['chat_messages.text']],
    [`UPDATE chat_messages SET text = NULL, folded = 'forged'`, ['chat_messages.text']],
    [`UPDATE chat_messages SET geoid = 'forged'`, ['chat_messages.geoid']],
    [`UPDATE chat_messages SET geoids = '{forged}'`, ['chat_messages.geoids']],
    [`UPDATE chat_messages SET sent = '2020-01-01T00:00:00Z'`, ['chat_messages.sent']],
    [
      `UPDATE chat_messages SET ts = (ts AT TIME ZONE 'UTC' - interval '1 day') AT TIME ZONE 'UTC'`,
      ['chat_messages'],
    ],
    ['DELETE FROM chat_messages', ['chat_messages']],
  ];
  for (const [change, mismatches] of forgeries) {
    const id = await say({ geoids: ['g', 'h'] });
    await forge('chat_messages', change, id);
    expect(await verified(id), change).toMatchObject({ valid: false, mismatches });
  }
  const id = await say({ geoids: ['g', 'h'] });
  await forge('packet_geoids', `UPDATE packet_geoids SET geoid = 'forged'`, id);
  expect(await verified(id)).toMatchObject({
    valid: false,
    mismatches: ['packet_geoids', 'chat_messages.geoids'],
  });
});
