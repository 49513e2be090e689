import { connect } from './chat-fill.ts';
import { type Context, type Measured, median, type Row, withContext } from './context.ts';
import { dropIndexes, fillPackets } from './packet-fill.ts';
import { someIds } from './packets.ts';

const SMALL = 50_000;
/** GROWTH_PACKETS=20000000 measures the last size, too. */
const SIZES = [500_000, 5_000_000, 20_000_000].filter(
  size => size <= Number(process.env.GROWTH_PACKETS ?? 5_000_000),
);
/** Positions to query: so many that hardly any repeats during a measurement. */
const POSITIONS = 200_000;
const CLIENTS = 32;
const ROUNDS = 5;
const READS = {
  'read by id': (id: string) => `/packets/${id}`,
  'page of 100': (id: string) => `/packets?limit=100&cursor=${id}`,
};

/**
 * The cost of reads, pages and intake with more and more data: a small and a growing database are queried alternately,
 * at positions spread over all of each. Intake comes last, because it makes the small one grow.
 */
export function growthRows(large: Context): Promise<Row[]> {
  return withContext(large.seconds, async small => {
    const few = await open(small, 0, SMALL);
    const rows: Row[] = [];
    let filled = 0;
    for (const size of SIZES) {
      const many = await open(large, filled, size);
      filled = size;
      for (const [kind, path] of Object.entries(READS)) {
        const p99 = await alternately(few, many, side => slowest(side, path));
        rows.push(
          rowOf(`${kind} among ${size.toLocaleString('en')} packets, ${CLIENTS} clients: p99`, 'ms', p99),
        );
      }
      if (size === SIZES.at(-1)) {
        const stored = await alternately(few, many, intake);
        rows.push(
          rowOf(
            `intake beside ${size.toLocaleString('en')} packets, ${CLIENTS} clients`,
            'packets/s',
            stored,
          ),
        );
      }
      await many.service.stop();
    }
    await few.service.stop();
    return rows;
  });
}

interface Side {
  context: Context;
  service: Measured;
  ids: string[];
}

/** Fills a database from one number of packets to another, and starts a service on it. */
async function open(context: Context, from: number, to: number): Promise<Side> {
  const indexes = await dropIndexes(context);
  await fillPackets(context, from, to);
  const client = await connect(context.connection);
  await client.query("SET maintenance_work_mem = '1GB'");
  for (const index of indexes) await client.query(index);
  await client.query('CHECKPOINT');
  await client.end();
  return { context, service: await context.startService(), ids: await someIds(context, POSITIONS) };
}

/** Rounds of a small and a large database, one after the other. */
async function alternately(
  few: Side,
  many: Side,
  measure: (side: Side) => Promise<number>,
): Promise<[few: number, many: number][]> {
  const rounds: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push([await measure(few), await measure(many)]);
  return rounds;
}

function rowOf(name: string, unit: string, rounds: [few: number, many: number][]): Row {
  return {
    name,
    value: median(rounds.map(([, many]) => many)),
    unit,
    against: {
      name: `among ${SMALL.toLocaleString('en')}`,
      ratio: median(rounds.map(([few, many]) => many / few)),
    },
  };
}

/** The 99th percentile in milliseconds. */
async function slowest({ context, service, ids }: Side, path: (id: string) => string): Promise<number> {
  const options = { paths: ids.map(path) };
  const load = { port: service.port, connections: CLIENTS, requests: './requests/read.ts', options };
  return (await context.load(load)).p99;
}

/** Packets stored in a second. */
async function intake({ context, service }: Side): Promise<number> {
  const load = {
    port: service.port,
    connections: CLIENTS,
    requests: './requests/scouting.ts',
    options: null,
  };
  return (await context.load(load)).perSecond;
}
