import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
beforeAll(async () => {
  trace = await runningTrace();
});
afterAll(() => trace.stop());

test('a code without an order has an empty journey; other tags are unknown', async () => {
  const { status, body } = await trace.send('GET', '/api/public/stock-order/EMPTY?withHistory=true');
  const historyTimeline = { items: [], journeyMarkers: [] };
  expect([status, body]).toEqual([
    200,
    { status: 'OK', data: { qrTag: 'EMPTY', certificates: [], historyTimeline } },
  ]);
  const unknown = await trace.send('GET', '/api/public/stock-order/empty?withHistory=true');
  expect([unknown.status, unknown.body]).toEqual([
    404,
    { status: 'NOT_FOUND', errorMessage: 'there is no stock order with this tag' },
  ]);
});
