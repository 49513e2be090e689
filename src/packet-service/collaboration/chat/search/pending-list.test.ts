import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

/** Merges what waits, and tells how many pages of the list that was. */
async function merged(): Promise<number> {
  const { rows } = await service.pool.query('SELECT merge_messages()::int AS pages');
  return rows[0].pages;
}

/** Whether the service itself has asked for a merge, on whichever of its connections. */
async function asked(): Promise<boolean> {
  const { rowCount } = await service.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND query LIKE 'SELECT merge_messages()' AND state = 'idle'`,
  );
  return rowCount === 1;
}

test('messages are merged into the index soon after they were written, and found before and after', async () => {
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: 'amina' }))
    .body;
  const search = async () =>
    (await service.send('POST', '/chat/query', { user_id: 'amina', keyword: 'umusaruro' })).body.results
      .length;
  let written = 0;
  const write = async () => {
    for (let n = 0; n < 20; n++) {
      await service.send('POST', '/intake/chat-message', { thread_id, text: `umusaruro ${written++}` });
    }
  };
  // On a busy machine the service may merge before all are written.
  const writeAndMerge = async () => {
    await write();
    expect(await search()).toBe(written);
    return merged();
  };
  expect(await eventually(writeAndMerge, pages => pages > 0)).toBeGreaterThan(0);

  await write();
  expect(await eventually(asked, done => done)).toBe(true);
  expect(await merged()).toBe(0);
  expect(await search()).toBe(written);
});
