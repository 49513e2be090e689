import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findParticipants } from '../src/packet-service/collaboration/chat/threads/participants-store.ts';
import { broadcast } from '../src/packet-service/core/log/broadcast.ts';
import { queueEvents } from '../src/packet-service/core/log/store.ts';
import { openFeeds } from '../src/packet-service/reading/feed/feeds.ts';
import { openPool } from '../src/platform/database/database.ts';
import { eventually } from './helpers/eventually.ts';
import { type OpenFeed, openFeed } from './helpers/feed.ts';
import { type RunningService, runningService } from './helpers/service.ts';
import { ADMIN, type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from './helpers/trace.ts';
import { bearer } from './helpers/user-registry.ts';

const logger = pino({ level: 'silent' });
let trace: RunningTrace;
/** The packet service of the same process, for which the trace backend is the registry of users. */
let packet: RunningService;
/** Another process that serves both, over the same database. */
let otherTrace: RunningTrace;
let admin: LoggedIn;
let pool: pg.Pool;
beforeAll(async () => {
  trace = await runningTrace();
  packet = await runningService({ AUTH_MODE: 'required' }, trace, { registry: trace.registry });
  otherTrace = await runningTrace({}, trace);
  pool = openPool(trace.connection, 'packet_service', 2);
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await pool.end();
  await packet.stop();
  await otherTrace.stop();
  await trace.stop();
});

const tokenOf = ({ cookie }: LoggedIn) => bearer(cookie.slice('trace-accessToken='.length));
const status = async (who: LoggedIn) =>
  (await packet.send('GET', '/packets', undefined, tokenOf(who))).status;
const follow = (who: LoggedIn): Promise<OpenFeed> => openFeed(packet.url, '', undefined, tokenOf(who));

/** The actions that end the sessions of a user. */
const ENDS: Record<string, (who: LoggedIn, of: RunningTrace) => Promise<unknown>> = {
  'a logout': (who, of) => of.send('POST', '/api/user/logout', undefined, { cookie: who.cookie }),
  'another password': (who, of) =>
    of.send(
      'PUT',
      '/api/user/profile',
      { password: 'another password of mine', currentPassword: PASSWORD },
      { cookie: who.cookie },
    ),
  'a deactivation': (who, of) =>
    of.send('POST', '/api/user/admin/execute/DEACTIVATE_USER', { id: who.id }, { cookie: admin.cookie }),
  'the end of that session': async (who, of) => {
    const { body } = await who.send('GET', '/api/user/sessions');
    const { id } = body.data.items.find(({ current }: { current: boolean }) => current);
    return of.send('DELETE', `/api/user/sessions/${id}`, undefined, { cookie: who.cookie });
  },
};

test.each(Object.entries(ENDS))(
  "%s ends the token and its feed at the packet service of the same process, and nobody else's",
  async (_end, end) => {
    const [user, bystander] = [await trace.loggedIn(), await trace.loggedIn()];
    expect([await status(user), await status(bystander)]).toEqual([200, 200]);
    const [feed, others] = [await follow(user), await follow(bystander)];
    await end(user, trace);
    expect(await feed.ended).toBe(true);
    expect([await status(user), await status(bystander)]).toEqual([401, 200]);
    expect(others.text()).not.toBe('');
    others.close();
  },
);

test('a session that another process ends is ended here at the next request', async () => {
  const user = await trace.loggedIn();
  expect(await status(user)).toBe(200);
  await ENDS['a logout']?.(user, otherTrace);
  expect(await status(user)).toBe(401);
});

test("the end of one session leaves the user's other sessions and feeds alone", async () => {
  const user = await trace.loggedIn();
  const phone = await trace.login(user.email, PASSWORD);
  const [lost, kept] = [await follow(phone), await follow(user)];
  await ENDS['the end of that session']?.(phone, trace);
  expect(await lost.ended).toBe(true);
  expect([await status(phone), await status(user)]).toEqual([401, 200]);
  await queueEvents(pool, [{ kind: 'share.created', userId: String(user.id), details: {} }]);
  await eventually(() => kept.events.length === 1);
  kept.close();
});

test('a feed whose session another process ended is ended at its next heartbeat; so is one whose token expires', async () => {
  const user = await trace.loggedIn();
  const news = broadcast(pool, logger, findParticipants);
  news.advance(0);
  const limits = { feeds: 10, heartbeatMs: 20, lifeMs: 60_000 };
  const feeds = openFeeds(
    {
      pool,
      news,
      logger,
      registry: otherTrace.registry,
      refusalOf: otherTrace.registry.refusalOf,
      isTokenUser: async () => true,
    },
    limits,
  );
  const claims = decodeJwt(user.cookie.slice('trace-accessToken='.length));
  const server = createServer((request, response) => {
    const exp = request.headers['last-event-id'] === '0' ? Math.floor(Date.now() / 1000) : claims.exp;
    feeds.open(
      { userId: String(user.id), anonymous: false, claims: { ...claims, exp } },
      undefined,
      response,
      {},
    );
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [expiring, feed] = [await openFeed(url, '', '0'), await openFeed(url, '')];
  expect(await expiring.ended).toBe(true);
  await ENDS['a logout']?.(user, trace);
  expect(await feed.ended).toBe(true);
  feeds.stop();
  server.close();
});
