import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read } from '../../../../test/helpers/chain.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let user: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  user = await trace.loggedIn();
});
afterAll(() => trace.stop());

/** Sends a report like the public front end; returns the status. */
async function report(body: object): Promise<number> {
  const answer = await trace.send('POST', '/api/public/logRequest', { token: 'stub', ...body });
  if (answer.status === 200) expect(answer.body).toEqual({ status: 'OK' });
  return answer.status;
}

const rows = async () => (await trace.pool.query('SELECT * FROM label_requests')).rows;

test('reports about published labels are counted by type and day, and nothing else is stored', async () => {
  const labels = [{ title: 'Tea' }, { title: 'Other' }];
  const { labels: made } = await read(user, await added(user, { name: 'Tea', labels }));
  const [label, unpublished] = made as [{ id: number; uuid: string }, { id: number; uuid: string }];
  await user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  const visits = Array.from({ length: 5 }, () => report({ type: 'VISIT_QR', logKey: label.uuid }));
  expect(await Promise.all(visits)).toEqual([200, 200, 200, 200, 200]);
  const click = { type: 'CLICK_SOCIAL_MEDIA', logKey: label.uuid.toUpperCase(), value1: 'x\n{"level":60}' };
  expect(await report(click)).toBe(200);
  for (const ignored of [
    { type: 'LANDING_PAGE' },
    { type: 'VISIT_QR', logKey: null },
    { type: 'VISIT_QR', logKey: 'EMPTY' },
    { type: 'VISIT_QR', logKey: randomUUID() },
    { type: 'VISIT_QR', logKey: unpublished.uuid },
  ]) {
    expect(await report(ignored), JSON.stringify(ignored)).toBe(200);
  }
  const stored = (await rows()).map(({ label_id, type, count }) => [label_id, type, count]);
  expect(stored.sort()).toEqual([
    [label.id, 'CLICK_SOCIAL_MEDIA', 1],
    [label.id, 'VISIT_QR', 5],
  ]);
  // All reports came from one address, which also opens the label.
  expect((await trace.send('GET', `/api/public/product/label/${label.uuid}`)).status).toBe(200);
  const analytics = await user.send('GET', `/api/product/label/analytics/${label.uuid}`);
  expect(analytics.body.data).toMatchObject({ visits: 1, visitsLocations: { unknown: 1 } });
  await user.send('DELETE', `/api/product/label/${label.id}`);
  expect(await rows()).toEqual([]);
});

test('reports have a known type, and texts with limits', async () => {
  for (const [body, field] of [
    [{}, 'type'],
    [{ type: 'OTHER' }, 'type'],
    [{ type: 'VISIT_QR', logKey: 'x'.repeat(65) }, 'logKey'],
    [{ type: 'VISIT_QR', value1: 'x'.repeat(256) }, 'value1'],
    [{ type: 'VISIT_QR', value2: 7 }, 'value2'],
    [{ type: 'VISIT_QR', token: 'x'.repeat(256) }, 'token'],
  ] as const) {
    const { status, body: answer } = await trace.send('POST', '/api/public/logRequest', body);
    const fields = Object.keys(answer.validationErrorDetails?.fieldErrors ?? {});
    expect([status, fields], JSON.stringify(answer)).toEqual([400, [field]]);
  }
});
