import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../helpers/service.ts';
import { storedPacket } from '../helpers/sharing.ts';
import { type RunningTrace, runningTrace } from '../helpers/trace.ts';
import { type Findings, fuzzPacketService, fuzzTraceBackend } from './run.ts';

/** `npm run fuzz -- --seed 7 --count 100000` sets them. */
const SEED = Number(process.env.FUZZ_SEED ?? 20261122);
const COUNT = Number(process.env.FUZZ_COUNT ?? 5000);

let packet: RunningService;
let trace: RunningTrace;
beforeAll(async () => {
  packet = await runningService();
  trace = await runningTrace();
});
afterAll(async () => {
  await packet.stop();
  await trace.stop();
});

/** All faults in one message, and with which seed to see them again. */
function report(findings: Findings): string {
  return [`seed ${SEED}, count ${COUNT}`, ...findings.faults.slice(0, 20)].join('\n');
}

test.concurrent('no request to the packet service fails, and every answer is what its definition says', async () => {
  const thread = await packet.send('POST', '/chat/threads', { name: 'Plot 7', created_by: 'ana' });
  const id = await storedPacket(packet);
  const found = await packet.send('GET', `/packets/${id}`);
  const known = {
    ...{ id: [id], packet_id: [id], thread_id: [thread.body.thread_id], geoid: [found.body.Header.geoid] },
    ...{ user_id: ['ana', 'ben'], from_user: ['ana'], created_by: ['ana'], cursor: [id] },
  };
  const findings = await fuzzPacketService(packet, known, SEED, Math.ceil(COUNT / 2));
  expect(findings.faults, report(findings)).toEqual([]);
  expect(findings.succeeded.size).toBeGreaterThan(findings.operations / 2);
}, 3_600_000);

test.concurrent('no request to the trace backend fails, and every answer is what its definition says', async () => {
  const admin = await trace.loggedIn('SYSTEM_ADMIN');
  const company = await admin.send('POST', '/api/company/create', { name: 'Kopanyi' });
  const id = String(company.body.data.id);
  const product = await admin.send('POST', '/api/product/create', { name: 'Bourbon', company: { id } });
  const known = {
    ...{ id: [id, String(product.body.data.id), String(admin.id)], companyId: [id] },
    ...{ from: ['EUR', '2026-03-01'], to: ['USD', '2026-03-01'], code: ['EUR', 'USD'], value: ['1', '2.5'] },
    ...{ size: ['SMALL'], contact: [admin.email] },
  };
  const findings = await fuzzTraceBackend(trace, known, SEED, Math.floor(COUNT / 2));
  expect(findings.faults, report(findings)).toEqual([]);
  expect(findings.succeeded.size).toBeGreaterThan(findings.operations / 3);
}, 3_600_000);
