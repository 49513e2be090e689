import { ulidToUuid } from '../src/packet-service/core/packet-format/ulid.ts';
import { connect, fillChat } from './chat-fill.ts';
import { type Context, latencies, type Row } from './context.ts';

const MESSAGES = 200_000;
const CLIENTS = 8;
const PAGE = 100;
/** Positions in the thread that pages begin at, from its first message to its last. */
const POSITIONS = 500;

/** Pages of one long thread: each begins after some message of it, and costs the same wherever that is. */
export async function threadPageRows(context: Context): Promise<Row[]> {
  const ids: string[] = [];
  const times: string[] = [];
  const filling = { languages: ['english' as const], threads: 1, messages: MESSAGES };
  const { threads } = await fillChat(context, filling, (ulid, ts) => {
    ids.push(ulid);
    times.push(ts);
  });
  await insertPackets(context, ids, times);
  const cursors = Array.from({ length: POSITIONS }, (_, n) => ids[Math.floor((n * MESSAGES) / POSITIONS)]);
  const { port, stop } = await context.startService();
  const options = { thread: threads[0], cursors, limit: PAGE };
  const load = { port, connections: CLIENTS, requests: './requests/thread-page.ts', options };
  await context.load({ ...load, seconds: 2 });
  const result = await context.load(load);
  const { perSecond } = await context.load({
    ...load,
    options: { ...options, cursors: cursors.slice(0, 1) },
  });
  await stop();
  return [
    {
      name: `page of ${PAGE} in a thread of 200,000 messages, ${CLIENTS} clients`,
      value: result.perSecond,
      unit: 'pages/s',
      against: { name: 'its first page', ratio: result.perSecond / perSecond },
      note: latencies(result),
    },
  ];
}

/** A cursor is looked up among the packets. */
async function insertPackets({ connection }: Context, ids: string[], times: string[]): Promise<void> {
  const client = await connect(connection);
  await client.query(
    `INSERT INTO packets (id, ts, geoid, type, header, body, footer)
     SELECT id, ts, '', 'chat_message', '{}', '{}', '{}' FROM unnest($1::uuid[], $2::timestamptz[]) AS packet (id, ts)`,
    [ids.map(ulidToUuid), times],
  );
  await client.query('VACUUM ANALYZE packets');
  await client.end();
}
