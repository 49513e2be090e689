import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';
import { ulidToUuid } from '../packet-format/ulid.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET });
});
afterAll(() => service.stop());

const observation = { observed_at: '2020-01-01T00:00:00Z', capture_point: { lat: 1, lon: 2 } };

/** Two hours, of which the first is the one before this. */
async function lastHours(headers: Record<string, string> = {}): Promise<number[]> {
  const from = new Date(Math.floor(Date.now() / 3_600_000 - 1) * 3_600_000).toISOString();
  const { status, body, text } = await service.send(
    'GET',
    `/packets/arrivals?from=${from}&hours=3`,
    undefined,
    headers,
  );
  expect(status, text).toBe(200);
  expect(body.hours[0].from).toBe(from);
  return body.hours.map(({ count }: { count: number }) => count);
}

const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);

test('packets count in the hour in which they came in, and messages only for those who may read them', async () => {
  expect(await lastHours()).toEqual([0, 0, 0]);
  const [ana, ben] = [bearer(await secretToken('ana')), bearer(await secretToken('ben'))];
  for (let n = 0; n < 3; n++) await service.send('POST', '/intake/scouting', observation);
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'Coffee' }, ana)).body;
  await service.send('POST', '/intake/chat-message', { thread_id, text: 'hello' }, ana);
  expect([sum(await lastHours()), sum(await lastHours(ben)), sum(await lastHours(ana))]).toEqual([3, 3, 4]);
});

test('the packets of an hour are those of the same time in their ids, whenever they were observed', async () => {
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  const at = (time: number) => new Date(time).toISOString();
  const { packet_uuid } = (await service.send('POST', '/intake/scouting', observation)).body;
  const made = Number(BigInt(`0x${ulidToUuid(packet_uuid).replaceAll('-', '').slice(0, 12)}`));
  const listed = async (from: number, to: number) => {
    const query = `made_from=${at(from)}&made_to=${at(to)}`;
    const { body } = await service.send('GET', `/packets?limit=1000&${query}`);
    return body.packets.some(({ Header }: { Header: { id: string } }) => Header.id === packet_uuid);
  };
  expect(await listed(made, made)).toBe(true);
  expect(await listed(made + 1, made + 3_600_000)).toBe(false);
  expect(await listed(hour - 3_600_000, made - 1)).toBe(false);
  const [day, early] = ['made_from=1969-12-31&made_to=9999-12-31', 'made_to=1969-12-31'];
  const countOf = async (query: string) =>
    (await service.send('GET', `/packets?limit=1000&${query}`)).body.count;
  expect(await countOf(day)).toBe(await countOf(''));
  expect(await countOf(early)).toBe(0);
});

test('hours and times that are none are refused by name', async () => {
  for (const [query, field] of [
    ['from=yesterday', 'from'],
    ['from=1969-12-31', 'from'],
    ['hours=3', 'from'],
    ['from=2026-03-01&hours=49', 'hours'],
    ['from=2026-03-01&hours=0', 'hours'],
  ]) {
    const { status, body } = await service.send('GET', `/packets/arrivals?${query}`);
    expect([status, body.error], query).toEqual([
      400,
      expect.stringMatching(new RegExp(`^(?:query )?${field} |'${field}'`)),
    ]);
  }
  const { status, body } = await service.send('GET', '/packets?made_to=yesterday');
  expect([status, body.error]).toEqual([400, 'made_to must be an ISO 8601 date-time or date']);
});
