import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { openFeed } from '../../../../test/helpers/feed.ts';
import type { Problem } from '../../../platform/http/problems.ts';
import { findParticipants } from '../../collaboration/chat/threads/participants-store.ts';
import { type Broadcast, broadcast } from '../../core/log/broadcast.ts';
import { type LogCursor, logCursorText, parseLogCursor } from '../../core/log/log-cursor.ts';
import { readCursors } from '../../core/log/read-store.ts';
import { appendQueued, NO_HORIZON, queueEvents } from '../../core/log/store.ts';
import { type Feeds, openFeeds } from './feeds.ts';

const logger = pino({ level: 'silent' });
let database: TestDatabase;
let news: Broadcast;
/** users whom tokens have named */
const claimed = new Set<string>();
const isTokenUser = async (userId: string) => claimed.has(userId);
beforeAll(async () => {
  database = await testDatabase();
  news = broadcast(database.pool, logger, findParticipants);
  news.advance(0);
});
afterAll(() => database.drop());

/** Puts events without a user at the end of the log; returns the cursor of the last. */
async function append(count: number): Promise<LogCursor> {
  const events = Array.from({ length: count }, () => ({ kind: 'share.created' as const, userId: 'nobody' }));
  await queueEvents(database.pool, events);
  const client = new pg.Client({ ...database.connection, options: '-c search_path=packet_service' });
  await client.connect();
  await appendQueued(client, NO_HORIZON);
  await client.end();
  return (await readCursors(database.pool, [])).head;
}

/** A server whose every request opens a feed of amina. */
async function serving(feeds: Feeds): Promise<{ url: string; server: Server }> {
  const server = createServer((request, response) => {
    const after = request.headers['last-event-id'];
    feeds
      .open(
        { userId: 'amina', anonymous: true },
        typeof after === 'string' ? parseLogCursor(after) : undefined,
        response,
        {},
      )
      .catch((problem: Problem) => response.writeHead(problem.status).end());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

test('an idle feed sends heartbeats that advance its position', async () => {
  const feeds = openFeeds(
    { pool: database.pool, news, logger, isTokenUser },
    { feeds: 10, heartbeatMs: 20, lifeMs: 60_000 },
  );
  const { url, server } = await serving(feeds);
  const feed = await openFeed(url, 'amina');
  expect(feed.lastId()).toBe('0');
  const head = await append(7);
  news.advance(head.position);
  await eventually(() => feed.lastId() === logCursorText(head));
  expect(feed.text()).toMatch(/\n:\nid: \d+(\.[0-9a-f]{8})?\n\n/);
  expect(feed.events).toEqual([]);
  feeds.stop();
  expect(await feed.ended).toBe(true);
  server.close();
});

test('a feed ends when it is old, so that its client must show a token that is valid then', async () => {
  const feeds = openFeeds(
    { pool: database.pool, news, logger, isTokenUser },
    { feeds: 10, heartbeatMs: 20, lifeMs: 100 },
  );
  const { url, server } = await serving(feeds);
  const feed = await openFeed(url, 'amina');
  expect(await feed.ended).toBe(true);
  feeds.stop();
  server.close();
});

test('a feed without a token ends when its user sends one', async () => {
  const feeds = openFeeds(
    { pool: database.pool, news, logger, isTokenUser },
    { feeds: 10, heartbeatMs: 20, lifeMs: 60_000 },
  );
  const { url, server } = await serving(feeds);
  const feed = await openFeed(url, 'amina');
  claimed.add('amina');
  expect(await feed.ended).toBe(true);
  claimed.clear();
  feeds.stop();
  server.close();
});

test('feeds are limited; a client beyond the limit gets 503, and connects when another has left', async () => {
  const feeds = openFeeds(
    { pool: database.pool, news, logger, isTokenUser },
    { feeds: 2, heartbeatMs: 60_000, lifeMs: 60_000 },
  );
  const { url, server } = await serving(feeds);
  const [first, second] = [await openFeed(url, 'amina'), await openFeed(url, 'amina')];
  const status = () =>
    new Promise<number | undefined>(resolve => {
      const request = get(url, { agent: false }, response => {
        resolve(response.statusCode);
        request.destroy();
      });
    });
  expect(await status()).toBe(503);
  first.close();
  await eventually(async () => (await status()) === 200);
  second.close();
  feeds.stop();
  server.close();
});

test('a feed waits until the log has been read once', async () => {
  const late = broadcast(database.pool, logger, findParticipants);
  const feeds = openFeeds(
    { pool: database.pool, news: late, logger, isTokenUser },
    { feeds: 2, heartbeatMs: 60_000, lifeMs: 60_000 },
  );
  const { url, server } = await serving(feeds);
  const opening = openFeed(url, 'amina');
  const head = await append(3);
  late.advance(head.position);
  const feed = await opening;
  expect(feed.lastId()).toBe(logCursorText(head));
  feed.close();
  feeds.stop();
  server.close();
});
