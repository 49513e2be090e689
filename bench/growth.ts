import { connect } from './chat-fill.ts';
import { type Context, type Measured, median, type Row, withContext } from './context.ts';
import { dropIndexes, fillPackets } from './packet-fill.ts';
import { someIds } from './packets.ts';

const SIZES = [50_000, 5_000_000] as const;
/** Positions to query: so many that hardly any repeats during a measurement. */
const PLACES = 200_000;
const CLIENTS = 32;
const ROUNDS = 5;
const KINDS = {
  'read by id': (id: string) => `/packets/${id}`,
  'page of 100': (id: string) => `/packets?limit=100&cursor=${id}`,
};

/**
 * The cost of reads and pages with a hundred times as much data: a small and a large database are queried
 * alternately, at positions spread over all of each.
 */
export function growthRows(large: Context): Promise<Row[]> {
  return withContext(large.seconds, async small => {
    const sides = [await filled(small, SIZES[0]), await filled(large, SIZES[1])] as const;
    const rows: Row[] = [];
    for (const [kind, path] of Object.entries(KINDS)) {
      const rounds: [number, number][] = [];
      for (let round = 0; round < ROUNDS; round++) {
        rounds.push([await slowest(sides[0], path), await slowest(sides[1], path)]);
      }
      rows.push({
        name: `${kind} among ${SIZES[1].toLocaleString('en')} packets, ${CLIENTS} clients: p99`,
        value: median(rounds.map(([, many]) => many)),
        unit: 'ms',
        against: {
          name: `among ${SIZES[0].toLocaleString('en')}`,
          ratio: median(rounds.map(([few, many]) => many / few)),
        },
      });
    }
    for (const { service } of sides) await service.stop();
    return rows;
  });
}

interface Side {
  context: Context;
  service: Measured;
  ids: string[];
}

async function filled(context: Context, packets: number): Promise<Side> {
  const indexes = await dropIndexes(context);
  await fillPackets(context, 0, packets);
  const client = await connect(context.connection);
  await client.query("SET maintenance_work_mem = '1GB'");
  for (const index of indexes) await client.query(index);
  await client.end();
  return { context, service: await context.startService(), ids: await someIds(context, PLACES) };
}

/** The 99th percentile in milliseconds. */
async function slowest({ context, service, ids }: Side, path: (id: string) => string): Promise<number> {
  const options = { paths: ids.map(path) };
  const load = { port: service.port, connections: CLIENTS, requests: './read-requests.ts', options };
  return (await context.load(load)).p99;
}
