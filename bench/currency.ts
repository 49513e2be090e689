import { connect } from './chat-fill.ts';
import { type Context, latencies, type Row } from './context.ts';
import { login, makeAdmin } from './trace.ts';

const CLIENTS = 32;

/** Conversions with stored rates, of today and of a date. */
export async function currencyRows(context: Context): Promise<Row[]> {
  await makeAdmin(context);
  await fillRates(context);
  const { port, stop } = await context.startTrace();
  const cookie = await login(port);
  const rows: Row[] = [];
  for (const [name, path] of [
    ['conversions by the latest rates', '/api/chain/currency/convert/100/USD/to/RWF'],
    ['conversions by the rates of a date', '/api/chain/currency/convert/100/USD/to/RWF/on/2024-05-15'],
  ] as const) {
    const load = { port, connections: CLIENTS, requests: './requests/trace.ts', options: { cookie, path } };
    await context.load({ ...load, seconds: 2 });
    const result = await context.load(load);
    rows.push({
      name: `${name}, ${CLIENTS} clients`,
      value: result.perSecond,
      unit: '/s',
      note: latencies(result),
    });
  }
  await stop();
  return rows;
}

/** Ten years of 30 currencies. */
export async function fillRates({ connection }: Context): Promise<void> {
  const client = await connect(connection);
  await client.query('SET search_path = trace_backend');
  const codes = [
    'USD',
    'RWF',
    ...Array.from({ length: 28 }, (_, n) => `X${String.fromCharCode(65 + (n % 26))}${n < 26 ? 'A' : 'B'}`),
  ];
  await client.query(
    'INSERT INTO currency_types (code, label) SELECT code, code FROM unnest($1::text[]) AS code',
    [codes],
  );
  await client.query(
    `INSERT INTO currency_rates (code, date, value) SELECT code, '2016-01-01'::date + n, 1 + n * 0.001
     FROM unnest($1::text[]) AS code, generate_series(0, 3900) AS n`,
    [codes],
  );
  await client.query('VACUUM ANALYZE currency_rates');
  await client.end();
}
