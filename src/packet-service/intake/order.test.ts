import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitingSessions } from '../../../test/helpers/database.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

test('a message that waits for the dictionary is not older than one that readers have seen meanwhile', async () => {
  const { send, pool } = service;
  const { thread_id } = (await send('POST', '/chat/threads', { name: 'Rust', created_by: 'ana' })).body;
  const say = (text: string) => send('POST', '/intake/chat-message', { thread_id, text, from_user: 'ana' });
  const inBatch = (text: string) =>
    send('POST', '/intake/batch', [{ intake: 'chat-message', body: { thread_id, text, from_user: 'ana' } }]);
  expect((await say('known')).status).toBe(201);
  // The process forgets the words that it knows when it begins to listen, which it has by now; then it learns this one.
  await eventually(async () => ((await pool.query('SELECT FROM packet_log')).rowCount ?? 0) > 0);
  expect((await say('known')).status).toBe(201);

  const stranger = await pool.connect();
  await stranger.query('BEGIN');
  await stranger.query('LOCK TABLE chat_words IN SHARE MODE');
  const late = [say('unheard'), inBatch('unseen')];
  await eventually(async () => (await waitingSessions(pool)) > 0);
  const seen = await say('known');
  expect(seen.status, seen.text).toBe(201);
  await stranger.query('COMMIT');
  stranger.release();
  for (const answer of await Promise.all(late)) expect(answer.status, answer.text).toBeLessThan(300);

  const path = `/chat/threads/${thread_id}/messages?limit=10&cursor=${seen.body.packet_uuid}`;
  const { messages } = (await send('GET', path)).body;
  expect(messages.map(({ text }: { text: string }) => text).sort()).toEqual(['unheard', 'unseen']);
});
