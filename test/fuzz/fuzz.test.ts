import { afterAll, beforeAll, expect, test } from 'vitest';
import { FX_KEY, type FxProvider, fxProvider } from '../helpers/fx-provider.ts';
import { runs } from '../helpers/property.ts';
import { type RunningService, runningService } from '../helpers/service.ts';
import { share, storedPacket } from '../helpers/sharing.ts';
import { type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from '../helpers/trace.ts';
import { JWT_SECRET, secretToken } from '../helpers/user-registry.ts';
import { packetError, traceError } from './check.ts';
import type { Random } from './random.ts';
import { type Findings, fuzz, report } from './run.ts';
import { anyText, bytesOf } from './texts.ts';

/** `npm run fuzz` sets them. */
const SEED = Number(process.env.FUZZ_SEED ?? 20261122);
const COUNT = Number(process.env.FUZZ_COUNT ?? runs(10_000));
const MINUTES = Number(process.env.FUZZ_MINUTES ?? 10);
const ms = MINUTES * 60_000;
const timeout = ms + 120_000;
/** Requests to the packet service; the trace backend's cost more, passwords being hashed. */
const toPackets = Math.ceil(COUNT * 0.6);

let packet: RunningService;
let provider: FxProvider;
let trace: RunningTrace;
beforeAll(async () => {
  packet = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET });
  provider = await fxProvider();
  trace = await runningTrace({ FX_URL: provider.url, FX_ACCESS_KEY: FX_KEY });
});
afterAll(async () => {
  await packet.stop();
  await trace.stop();
  await provider.stop();
});

/** A header's value that is not a credential. */
const nonsense = (random: Random) =>
  bytesOf(anyText(random).slice(0, 3000)).replaceAll(/[\0-\x1f\x7f]/g, '?');

/** All faults in one message, and with which seed to see them again. */
function reportOf(name: string, findings: Findings): string {
  const text = report(name, SEED, findings);
  if (process.env.FUZZ_SEED) console.log(text);
  return text;
}

test.concurrent(
  'no request to the packet service fails, and every answer is what its definition says',
  async () => {
    const thread = await packet.send('POST', '/chat/threads', { name: 'Plot 7', created_by: 'ana' });
    const id = await storedPacket(packet);
    const { geoid } = (await packet.send('GET', `/packets/${id}`)).body.Header;
    await share(packet, id, 'ben@example.org');
    const known = {
      id: [id],
      packet_id: [id],
      cursor: [id],
      thread_id: [thread.body.thread_id],
      geoid: [geoid],
      user_id: ['ana', 'ben'],
      user_ids: ['ben', 'cleo'],
      from_user: ['ana'],
      created_by: ['ana'],
      contact_value: ['ben@example.org', 'cleo@example.org'],
      'idempotency-key': ['a', 'b', 'c', 'd', 'e'],
      'upload-length': ['0', '1', '5', '300'],
      'upload-offset': ['0', '1'],
    };
    const token = await secretToken('dora');
    const sender = (random: Random) => {
      if (random.chance(0.8)) return { headers: [] };
      const value = random.chance(0.7) ? `Bearer ${token}` : random.pick(['Bearer ', '']) + nonsense(random);
      return { headers: [['authorization', value] as [string, string]] };
    };
    const target = { ...packet, definition: '/openapi.json', isError: packetError, known, sender };
    const findings = await fuzz(target, SEED, { count: toPackets, ms });
    expect(findings.faults.length, reportOf('packet service', findings)).toBe(0);
    expect(findings.succeeded.size).toBeGreaterThan(findings.operations.length / 2);
  },
  timeout,
);

test.concurrent(
  'no request to the trace backend fails, and every answer is what its definition says',
  async () => {
    const roles = ['SYSTEM_ADMIN', 'USER'] as const;
    const users = await Promise.all(roles.map(role => trace.loggedIn(role)));
    const [admin, user] = users as [LoggedIn, LoggedIn];
    const made = async (path: string, body: object) =>
      String((await admin.send('POST', path, body)).body.data.id);
    const company = await made('/api/company/create', { name: 'Kopanyi' });
    const product = await made('/api/product/create', { name: 'Bourbon', company: { id: company } });
    await made('/api/product/label/create', { productId: product, title: 'Bourbon' });
    const known = {
      id: [company, product, String(user.id)],
      companyId: [company],
      productId: [product],
      userId: [String(user.id)],
      from: ['EUR', '2026-03-01'],
      to: ['USD', '2026-03-01'],
      code: ['EUR', 'USD'],
      date: ['2026-03-01', '2026-03-02'],
      value: ['1', '2.5'],
      contact: [admin.email],
      password: [PASSWORD],
      currentPassword: [PASSWORD],
      username: [admin.email, user.email],
    };
    const sender = (random: Random) => {
      if (random.chance(0.05)) return { headers: [] };
      if (random.chance(0.04)) {
        const name = random.pick(['trace-accessToken=', 'trace-refreshToken=', '']);
        return { headers: [['cookie', name + nonsense(random)] as [string, string]] };
      }
      const who = random.chance(0.1) ? 1 : 0;
      const headers = [['cookie', users[who]?.cookie] as [string, string]];
      const unauthenticated = async () => {
        const { status } = await (users[who] as LoggedIn).send('GET', '/api/user/profile');
        if (status === 401) users[who] = await trace.loggedIn(roles[who]);
      };
      return { headers, unauthenticated };
    };
    const target = { ...trace, definition: '/v3/api-docs', isError: traceError, known, sender };
    const findings = await fuzz(target, SEED, { count: COUNT - toPackets, ms });
    expect(findings.faults.length, reportOf('trace backend', findings)).toBe(0);
    expect(findings.succeeded.size).toBeGreaterThan(findings.operations.length / 3);
  },
  timeout,
);
