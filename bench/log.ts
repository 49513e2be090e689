import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { ulidToUuid } from '../src/packet-service/core/packet-format/ulid.ts';
import { type Context, type Measured, median, type Row } from './context.ts';
import { post, quantiles } from './feed-clients.ts';

const CLIENTS = 32;
const ROUNDS = 9;
const PROBES = 4;

/**
 * The cost of the log for intake, and the time from a packet's answer to its log entry while intake is at its limit.
 */
export async function logRows(context: Context): Promise<Row[]> {
  const without = await context.startService({
    NODE_OPTIONS: `--import=${import.meta.dirname}/programs/without-log.ts`,
  });
  const service = await context.startService();
  const intake = ({ port }: Measured, seconds = context.seconds) =>
    context.load({ port, connections: CLIENTS, requests: './requests/scouting.ts', options: null, seconds });
  await intake(without, 2);
  await intake(service, 2);
  const seconds = context.seconds / 2;
  const rates: { plain: number; logged: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // In turns, each first as often as the other: the speed of a shared machine drifts.
    const first = round % 2 === 0 ? await intake(without, seconds) : undefined;
    const logged = (await intake(service, seconds)).perSecond;
    const plain = (first ?? (await intake(without, seconds))).perSecond;
    rates.push({ plain, logged });
  }
  await without.stop();

  const lags: number[] = [];
  const until = performance.now() + 3 * context.seconds * 1000;
  const probing = Promise.all(Array.from({ length: PROBES }, () => probe(context, service, until, lags)));
  const { perSecond } = await intake(service, 3 * context.seconds);
  await probing;
  await service.stop();
  const { p50, p99, note } = quantiles(lags);
  return [
    {
      name: 'scouting intake without the log',
      value: median(rates.map(({ plain }) => plain)),
      unit: 'packets/s',
    },
    {
      name: 'scouting intake with the log',
      value: median(rates.map(({ logged }) => logged)),
      unit: 'packets/s',
      against: { name: 'without it', ratio: median(rates.map(({ plain, logged }) => logged / plain)) },
    },
    {
      name: 'from the answer to the place in the log, p99',
      value: p99,
      unit: 'ms',
      note: `p50 ${p50.toFixed(1)} ms; ${note}, at ${Math.round(perSecond)} packets/s`,
    },
  ];
}

/** Sends one observation after the other, and measures the time from each answer to the log entry. */
async function probe(
  { connection }: Context,
  { port }: Measured,
  until: number,
  lags: number[],
): Promise<void> {
  const client = new pg.Client({ ...connection, options: '-c search_path=packet_service' });
  await client.connect();
  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  while (performance.now() < until) {
    const { packet_uuid } = await post(port, '/intake/scouting', observation);
    const answered = performance.now();
    const isLogged = {
      name: 'probe',
      text: 'SELECT 1 FROM packet_log WHERE packet_id = $1',
      values: [ulidToUuid(packet_uuid as string)],
    };
    while ((await client.query(isLogged)).rowCount === 0) await wait(1);
    lags.push(performance.now() - answered);
  }
  await client.end();
}
