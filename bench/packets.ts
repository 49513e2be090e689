import pg from 'pg';
import { uuidToUlid } from '../src/packet-service/core/packet-format/ulid.ts';
import { type Context, latencies, median, type Row } from './context.ts';
import { insertLimit } from './insert-limit.ts';

const CLIENTS = 32;
/** Observations in one batch, and the phones that send batches at the same time. */
const BATCH = 200;
const BATCH_CLIENTS = 4;
const ROUNDS = 3;

/**
 * Intake, reads by id and pages, each compared with its upper limit. The measurements of one round follow each other
 * closely and rounds repeat, because the speed of a shared machine drifts by more than the differences.
 */
export async function packetRows(context: Context): Promise<Row[]> {
  const results = { parse: [], loop: [], intake: [], batch: [] } as Record<
    'parse' | 'loop' | 'intake' | 'batch',
    number[]
  >;
  let note = '';
  const limit = await insertLimit(context);
  const parser = await context.startScript('parse-only.ts');
  const service = await context.startService();
  const intake = (port: number) =>
    context.load({ port, connections: CLIENTS, requests: './requests/scouting.ts', options: null });
  await context.load({
    port: service.port,
    connections: CLIENTS,
    requests: './requests/scouting.ts',
    options: null,
    seconds: 2,
  });
  for (let round = 0; round < ROUNDS; round++) {
    results.parse.push((await intake(parser.port)).perSecond);
    results.loop.push(await limit.measure());
    const result = await intake(service.port);
    results.intake.push(result.perSecond);
    note = latencies(result);
    const batches = await context.load({
      port: service.port,
      connections: BATCH_CLIENTS,
      requests: './requests/batch.ts',
      options: { items: BATCH },
    });
    results.batch.push(batches.perSecond * BATCH);
  }
  await parser.stop();
  const ratios = (values: number[], other: number[]) =>
    median(values.map((value, round) => value / (other[round] as number)));
  const ratio = (other: number[]) => ratios(results.intake, other);
  const rows: Row[] = [
    { name: 'a route that only parses', value: median(results.parse), unit: 'requests/s' },
    { name: limit.name, value: median(results.loop), unit: 'rows/s' },
    {
      name: 'scouting intake, 32 clients, durable',
      value: median(results.intake),
      unit: 'packets/s',
      against: { name: limit.name, ratio: ratio(results.loop) },
      note: `${note}; ${ratio(results.parse).toFixed(2)} × the route that only parses`,
    },
    {
      name: `batch intake, ${BATCH_CLIENTS} clients, ${BATCH} items each`,
      value: median(results.batch),
      unit: 'packets/s',
      against: { name: 'scouting intake', ratio: ratios(results.batch, results.intake) },
    },
    ...(await readRows(context, service.port)),
  ];
  await service.stop();
  return rows;
}

async function readRows(context: Context, port: number): Promise<Row[]> {
  const ids = await someIds(context);
  const paths = ids.map(id => `/packets/${id}`);
  const pages = ids.slice(0, 200).map(id => `/packets?limit=100&cursor=${id}`);
  const read = await repeated(context, port, paths);
  const page = await repeated(context, port, pages);
  return [
    { name: 'read by id, 32 clients', value: read.perSecond, unit: 'packets/s', note: latencies(read) },
    { name: 'page of 100, 32 clients', value: page.perSecond, unit: 'pages/s', note: latencies(page) },
  ];
}

async function repeated(context: Context, port: number, paths: string[]) {
  const results = [];
  for (let round = 0; round < ROUNDS; round++) {
    results.push(
      await context.load({ port, connections: CLIENTS, requests: './requests/read.ts', options: { paths } }),
    );
  }
  const middle = median(results.map(({ perSecond }) => perSecond));
  return results.find(({ perSecond }) => perSecond === middle) as (typeof results)[number];
}

/** ULIDs of packets spread over all that are stored and have one (those of the INSERT loop have none). */
export async function someIds({ connection }: Pick<Context, 'connection'>, count = 5000): Promise<string[]> {
  const client = new pg.Client({ ...connection, options: '-c search_path=packet_service' });
  await client.connect();
  await client.query('VACUUM ANALYZE packets');
  const { rows } = await client.query<{ id: string }>(
    "SELECT id FROM packets WHERE id < '0fffffff-ffff-ffff-ffff-ffffffffffff' ORDER BY hashtext(id::text) LIMIT $1",
    [count],
  );
  await client.end();
  return rows.map(({ id }) => uuidToUlid(id));
}
