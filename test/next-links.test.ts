import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type RunningService, runningService } from './helpers/service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
  for (let n = 0; n < 5; n++) {
    const south = 1 + n / 100;
    const square = [
      [2, south],
      [2.002, south],
      [2.002, south + 0.002],
      [2, south + 0.002],
      [2, south],
    ];
    const geometry = { type: 'Polygon', coordinates: [square] };
    await made('PUT', '/fields', { type: 'Feature', properties: {}, geometry });
    const { thread_id } = await made('POST', '/chat/threads', { name: `${n}`, created_by: 'ana' });
    thread = thread_id;
    await made('POST', '/intake/scouting', {
      observed_at: '2026-03-01T08:15:00+03:00',
      capture_point: { lat: south, lon: 2 },
    });
  }
  for (let n = 0; n < 5; n++) {
    await made('POST', '/intake/chat-message', { thread_id: thread, text: `${n}`, from_user: 'ana' });
  }
  await made('PUT', '/directory/users/ben', { contacts: ['ben@example.org'], discoverable: true });
  const { body } = await service.send('GET', '/packets?type=note');
  for (const { Header } of body.packets) {
    await made('POST', '/shares', {
      packet_id: Header.id,
      from_user: 'ana',
      contact_value: 'ben@example.org',
    });
  }
});
let thread: string;
afterAll(() => service.stop());

async function made(method: string, path: string, body: unknown) {
  const answer = await service.send(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

const GEOJSON = { accept: 'application/geo+json' };

test.each<[string, string, Record<string, string>]>([
  ['/packets?type=note&from=2026-03-01T08:15:00+03:00', 'packets', {}],
  ['/packets?type=note&bbox=-180,-90,180,90', 'features', GEOJSON],
  ['/fields?bbox=1,0,3,2', 'features', {}],
  ['/chat/threads?user_id=ana', 'threads', {}],
  ['/chat/threads/{thread}/messages?order=desc', 'messages', {}],
  ['/shares/inbox?user_id=ben', 'shares', {}],
  ['/notifications?user_id=ben', 'notifications', {}],
])('Link leads through all pages of %s', async (list, name, headers) => {
  const pages: unknown[] = [];
  let url = new URL(`${list.replace('{thread}', thread)}&limit=2`, service.url);
  for (let page = 1; page <= 3; page++) {
    const answer: Answer = await service.send('GET', url.pathname + url.search, undefined, headers);
    expect(answer.status, answer.text).toBe(200);
    pages.push(...answer.body[name].map((item: object) => JSON.stringify(item)));
    const link = answer.headers.get('link');
    if (page === 3) {
      expect([link, answer.body.next_cursor]).toEqual([null, undefined]);
      break;
    }
    // Relative: it names no host, and no path by which a proxy may serve this differently.
    const target = /^<(\?[\w.~*%+&=-]+)>; rel="next"$/.exec(link ?? '')?.[1] as string;
    expect(new URLSearchParams(target).get('cursor')).toBe(answer.body.next_cursor);
    url = new URL(target, url);
  }
  expect(pages).toHaveLength(5);
  expect(new Set(pages).size).toBe(5);
});

test('a search, whose next page is another body, has the cursor alone', async () => {
  const answer = await service.send('POST', '/chat/query', { user_id: 'ana', limit: 2 });
  expect(answer.body.next_cursor).toBeTypeOf('string');
  expect(answer.headers.get('link')).toBeNull();
});
