import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
beforeAll(async () => {
  trace = await runningTrace();
});
afterAll(() => trace.stop());

test('a tag that no stock order has, and the tag of codes without one, have an empty journey', async () => {
  for (const tag of ['EMPTY', 'empty', '7a0e6e0c-52b6-4f0e-9a5b-0e4f3f6f3c11', 'a/b', '🌱', '<b>']) {
    for (const query of ['', '?withHistory=true']) {
      const path = `/api/public/stock-order/${encodeURIComponent(tag)}${query}`;
      const { status, body, headers } = await trace.send('GET', path);
      const historyTimeline = { items: [], journeyMarkers: [] };
      expect([status, body]).toEqual([
        200,
        { status: 'OK', data: { qrTag: tag, certificates: [], historyTimeline } },
      ]);
      expect(headers.get('cache-control')).toBe('no-cache');
    }
  }
});
