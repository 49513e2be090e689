import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { FX_KEY, type FxProvider, fridayOrBefore, fxProvider } from '../../../../test/helpers/fx-provider.ts';
import { type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { daysBefore, localTime } from './calendar.ts';
import { retrieveDaily } from './daily.ts';
import { importEcbRates } from './import-ecb.ts';
import { openProvider } from './provider.ts';

let fx: FxProvider;
let trace: RunningTrace;
let other: RunningTrace;
let user: LoggedIn;
let admin: LoggedIn;
const today = localTime(new Date()).day;
beforeAll(async () => {
  fx = await fxProvider();
  const settings = { FX_URL: fx.url, FX_ACCESS_KEY: FX_KEY };
  trace = await runningTrace(settings);
  user = await trace.loggedIn();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  // At start today's rates are missing.
  await eventually(
    async () => (await user.send('GET', '/api/chain/currency-type/list?limit=1000')).body.data.items,
    items => items.some(({ label }: { label: string }) => label === 'Gold (troy ounce)'),
  );
  other = await runningTrace(settings, trace);
});
afterAll(async () => {
  await other.stop();
  await trace.stop();
  await fx.stop();
});

const convert = (rest: string, by = user) => by.send('GET', `/api/chain/currency/convert/${rest}`);
const budget = async () => (await admin.send('GET', '/api/chain/currency/budget')).body.data;

test('rates were retrieved at start, once for all processes, and conversions use them', async () => {
  expect(fx.asked).toEqual(['latest', 'symbols']);
  const answer = await convert('100/USD/to/RWF');
  expect(answer.body).toEqual({
    status: 'OK',
    data: {
      value: '100',
      from: 'USD',
      to: 'RWF',
      date: fridayOrBefore(new Date().toISOString().slice(0, 10)),
      result: 145203.090624,
      exact: '145203.090624',
    },
  });
  expect((await convert('1/EUR/to/JPY')).body.data.exact).toBe('163.21');
  expect((await convert('12.3400/USD/to/USD')).body.data.exact).toBe('12.3400');
  expect(await budget()).toEqual({ hasProvider: true, day: today, limit: 250, used: 2, left: 248, kept: 0 });
});

test('impossible conversions are refused with the name of the currency', async () => {
  for (const [rest, status, field] of [
    ['100/QQQ/to/USD', 400, 'from'],
    ['100/USD/to/usd', 400, 'to'],
    ['1e3/USD/to/JPY', 400, 'value'],
    [`${'9'.repeat(21)}/USD/to/JPY`, 400, 'value'],
    ['100/USD/to/JPY/on/2026-02-30', 400, 'date'],
    ['100/USD/to/JPY/on/1998-12-31', 400, 'date'],
    ['100/USD/to/JPY/on/2999-01-01', 400, 'date'],
  ] as const) {
    const { status: got, body } = await convert(rest);
    expect([got, Object.keys(body.validationErrorDetails.fieldErrors)], rest).toEqual([status, [field]]);
  }
});

test('500 concurrent conversions at a missing date, at two processes, make one request', async () => {
  const before = fx.asked.length;
  const otherUser = await other.login(user.email, 'correct horse battery staple');
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, n) => convert('100/USD/to/RWF/on/2024-05-15', n % 2 ? user : otherUser)),
  );
  expect(answers.every(({ status, body }) => status === 200 && body.data.date === '2024-05-15')).toBe(true);
  expect(fx.asked.slice(before)).toEqual(['2024-05-15']);
});

test('no transaction is open during a request to the provider; another process waits for the answer', async () => {
  const before = fx.asked.length;
  const otherUser = await other.login(user.email, 'correct horse battery staple');
  const ask = (by: LoggedIn) => convert('100/USD/to/RWF/on/2024-05-14', by);
  fx.behaviour = 'held';
  const first = ask(user);
  await eventually(
    async () => fx.asked.length,
    count => count > before,
  );
  const answers = [first, ask(otherUser), ask(otherUser)];
  expect((await otherUser.send('GET', '/api/user/profile')).status).toBe(200);
  const { rows } = await trace.pool.query(`
    SELECT state, wait_event_type, query FROM pg_stat_activity
    WHERE datname = current_database() AND (state LIKE 'idle in transaction%' OR wait_event_type = 'Lock')`);
  fx.release();
  expect(rows).toEqual([]);
  for (const { status, body } of await Promise.all(answers)) {
    expect([status, body.data.date]).toEqual([200, '2024-05-14']);
  }
  expect(fx.asked.slice(before)).toEqual(['2024-05-14']);
});

test('a date claimed by a process that died is fetched by another after the claim', async () => {
  const date = '2024-05-13';
  await trace.pool.query(
    "INSERT INTO currency_fetches (date, claimant, expires_at) VALUES ($1, gen_random_uuid(), now() + interval '1 h')",
    [date],
  );
  const before = fx.asked.length;
  const answer = convert(`1/USD/to/EUR/on/${date}`);
  for (let n = 0; n < 10; n++) expect((await user.send('GET', '/api/user/profile')).status).toBe(200);
  expect(fx.asked.length).toBe(before);
  await trace.pool.query('UPDATE currency_fetches SET expires_at = now()');
  expect((await answer).body.data.date).toBe(date);
  expect(fx.asked.slice(before)).toEqual([date]);
  const { rows } = await trace.pool.query('SELECT date FROM currency_fetches');
  expect(rows).toEqual([]);
});

test('a weekend has the rates of its Friday, and is requested once', async () => {
  const before = fx.asked.length;
  for (let n = 0; n < 3; n++) {
    expect((await convert('1/USD/to/EUR/on/2024-05-19')).body.data.date).toBe('2024-05-17');
  }
  expect(fx.asked.slice(before)).toEqual(['2024-05-19']);
});

test('failures of the provider have different errors, count their requests, and do not disclose the key', async () => {
  const outcome = async (date: string) => {
    const { status, body, headers } = await convert(`1/USD/to/EUR/on/${date}`);
    expect(JSON.stringify(body)).not.toContain(FX_KEY);
    return [status, body.status, headers.has('retry-after')];
  };
  fx.behaviour = 'no rates';
  expect(await outcome('2023-01-02')).toEqual([404, 'NOT_FOUND', false]);
  fx.behaviour = 'well';
  const before = fx.asked.length;
  expect(await outcome('2023-01-02')).toEqual([404, 'NOT_FOUND', false]);
  expect(fx.asked.length).toBe(before);

  for (const [behaviour, requests] of [
    ['bad key', 1],
    ['restricted', 1],
    ['quota', 1],
    ['down', 2],
    ['not json', 2],
    ['cut', 2],
  ] as const) {
    fx.behaviour = behaviour;
    const { used } = await budget();
    const sent = fx.asked.length;
    expect(await outcome('2023-01-03'), behaviour).toEqual([503, 'UPSTREAM_HTTP_ERROR', true]);
    expect([(await budget()).used - used, fx.asked.length - sent], behaviour).toEqual([requests, requests]);
  }
  fx.behaviour = 'well';
  const answer = await eventually(
    () => convert('1/USD/to/EUR/on/2023-01-03'),
    ({ status }) => status === 200,
  );
  expect(answer.body.data.date).toBe('2023-01-03');
});

test("an outage does not use up the day's requests: after some failures requests are suspended and not counted", async () => {
  const alone = await runningTrace({ FX_URL: fx.url, FX_ACCESS_KEY: FX_KEY });
  const admin = await alone.loggedIn('SYSTEM_ADMIN');
  const used = async () => (await admin.send('GET', '/api/chain/currency/budget')).body.data.used;
  await eventually(
    async () => (await admin.send('GET', '/api/chain/currency-type/list?limit=1000')).body.data.items,
    items => items.some(({ label }: { label: string }) => label === 'Gold (troy ounce)'),
  );
  for (const [behaviour, year] of [
    ['down', 2015],
    ['bad key', 2016],
  ] as const) {
    fx.behaviour = behaviour;
    const [counted, sent] = [await used(), fx.asked.length];
    for (let n = 10; n < 30; n++) {
      const { status, headers } = await convert(`1/USD/to/EUR/on/${year}-03-${n}`, admin);
      expect([status, headers.has('retry-after')]).toEqual([503, true]);
    }
    expect((await used()) - counted).toBe(fx.asked.length - sent);
    expect(fx.asked.length - sent).toBe(behaviour === 'down' ? 10 : 0);
  }
  fx.behaviour = 'well';
  await alone.stop();
});

test('a date that may still be published is requested again later, an old one is not', async () => {
  const alone = await runningTrace({ FX_URL: fx.url, FX_ACCESS_KEY: FX_KEY });
  const user = await alone.loggedIn();
  await eventually(
    async () => (await user.send('GET', '/api/chain/currency-type/list?limit=1000')).body.data.items,
    items => items.some(({ label }: { label: string }) => label === 'Gold (troy ounce)'),
  );
  await alone.pool.query('DELETE FROM currency_rates');
  await alone.pool.query('DELETE FROM currency_dates');
  const start = fx.asked.length;
  fx.behaviour = 'no rates';
  for (const date of [today, today, '2020-05-04', '2020-05-04']) {
    expect((await convert(`1/USD/to/EUR/on/${date}`, user)).status).toBe(404);
  }
  expect(fx.asked.slice(start)).toEqual([today, '2020-05-04']);
  fx.behaviour = 'well';
  await alone.pool.query(`UPDATE currency_dates SET believed_until = believed_until - interval '1 hour'`);
  expect((await convert(`1/USD/to/EUR/on/${today}`, user)).status).toBe(200);
  expect((await convert('1/USD/to/EUR/on/2020-05-04', user)).status).toBe(404);
  await alone.stop();
});

test('currencies are listed and switched by their ids, as the public front end does', async () => {
  const list = async (state: string, query = 'limit=1000&offset=0&sortBy=code&sort=ASC') =>
    (await user.send('GET', `/api/chain/currency-type/list/${state}?${query}`)).body.data.items;
  const codes = (items: { code: string }[]) => items.map(({ code }) => code);
  const before = await list('enabled');
  const ratesUntil = fridayOrBefore(new Date().toISOString().slice(0, 10));
  const yen = before.find(({ code }: { code: string }) => code === 'JPY');
  expect(yen).toEqual({
    id: expect.any(Number),
    code: 'JPY',
    label: 'Japanese Yen',
    enabled: true,
    ratesUntil,
  });
  const { ratesUntil: _, ...type } = yen;
  for (let n = 0; n < 2; n++) {
    const { body } = await admin.send('PUT', `/api/chain/currency-type/${yen.id}/disable`);
    expect(body.data).toEqual({ ...type, enabled: false });
  }
  expect(await list('disabled')).toEqual([{ ...yen, enabled: false }]);
  expect(codes(await list('enabled'))).toEqual(codes(before).filter(code => code !== 'JPY'));
  expect(codes(await list('enabled', 'sortBy=label&sort=DESC&query=yen'))).toEqual([]);
  expect(codes(await list('enabled', 'sortBy=label&sort=DESC&query=n%20franc'))).toEqual([
    ...['RWF', 'GNF', 'DJF', 'KMF', 'BIF'],
  ]);
  expect(codes(await list('disabled', 'query=japan'))).toEqual(['JPY']);
  expect((await admin.send('PUT', `/api/chain/currency-type/${yen.id}/enable`)).body.data).toEqual(type);
  expect((await admin.send('PUT', '/api/chain/currency-type/999999/enable')).status).toBe(404);
  expect((await user.send('PUT', `/api/chain/currency-type/${yen.id}/disable`)).status).toBe(403);
});

test('a disabled currency is not converted; the audit records switching', async () => {
  expect((await admin.send('PUT', '/api/chain/currency-type/JPY/disable')).body.data).toEqual({
    id: expect.any(Number),
    code: 'JPY',
    label: 'Japanese Yen',
    enabled: false,
  });
  expect((await convert('1/EUR/to/JPY')).status).toBe(400);
  const list = await user.send('GET', '/api/chain/currency-type/list?enabled=true&limit=1000');
  const enabled: string[] = list.body.data.items.map(({ code }: { code: string }) => code);
  expect(['EUR', 'JPY', 'RWF', 'USD'].filter(code => enabled.includes(code))).toEqual(['EUR', 'RWF', 'USD']);
  for (let n = 0; n < 2; n++) await admin.send('PUT', '/api/chain/currency-type/JPY/enable');
  expect((await convert('1/EUR/to/JPY')).status).toBe(200);
  expect((await admin.send('PUT', '/api/chain/currency-type/ZZZ/enable')).status).toBe(404);
  const { body } = await admin.send('GET', '/api/audit/list?entity=currency&entityId=JPY');
  // The same number of entries by id come from the previous test.
  expect(body.data.count).toBe(4);
});

test("conversions use the history of the ECB's file", async () => {
  const file = path.join(trace.folder, 'eurofxref-hist.csv');
  const lines = ['Date,USD,JPY,CYP,', '2020-01-03,1.1147,120.62,N/A,', '2020-01-02,1.1193,121.75,N/A,'];
  await writeFile(file, [...lines, '1999-01-04,1.1789,133.73,0.58231,'].join('\n'));
  await importEcbRates(trace.pool, file);
  expect((await convert('1/EUR/to/USD/on/2020-01-02')).body.data.exact).toBe('1.1193');
  expect((await convert('1/EUR/to/CYP/on/1999-01-04')).body.data.exact).toBe('0.58231');
  const rates = await user.send('GET', '/api/chain/currency/rates/USD?from=2020-01-01&to=2020-01-31');
  expect(rates.body.data).toEqual({
    code: 'USD',
    base: 'EUR',
    items: [
      { date: '2020-01-02', value: '1.1193' },
      { date: '2020-01-03', value: '1.1147' },
    ],
  });
  const chart = await user.send('GET', '/api/chain/currency/rates/USD.svg?from=2020-01-01&to=2020-01-31');
  expect(chart.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
  expect(chart.text).toContain('<title id="title">1 EUR in USD, 2020-01-02 to 2020-01-03</title>');
  expect(
    (await user.send('GET', '/api/chain/currency/rates/USD.svg?from=2000-01-01&to=2000-01-31')).status,
  ).toBe(404);
  expect((await user.send('GET', '/api/chain/currency/rates/USD?from=2000-01-01')).status).toBe(400);
  await writeFile(file, 'Date,USD,\n2017-03-06,1.1337,\n2017-03-03,1.1383,\n');
  await importEcbRates(trace.pool, file);
  // The lines cover the weekend between them; a currency without a column is requested for the Friday.
  const before = fx.asked.length;
  expect((await convert('1/EUR/to/USD/on/2017-03-05')).body.data).toMatchObject({
    date: '2017-03-03',
    exact: '1.1383',
  });
  expect(fx.asked.length).toBe(before);
  expect((await convert('1/EUR/to/RWF/on/2017-03-05')).body.data.date).toBe('2017-03-03');
  expect(fx.asked.slice(before)).toEqual(['2017-03-03']);
});

test('the daily retrieval runs once a day in one of many processes, and again after a failure', async () => {
  const alone = await runningTrace();
  const settings = { FX_URL: fx.url, FX_ACCESS_KEY: FX_KEY };
  const provider = openProvider(alone.pool, settings, pino({ level: 'silent' }));
  if (!provider) throw new Error('there is a provider');
  const latest = () => fx.asked.filter(path => path === 'latest').length;
  const at = async (time: string) => {
    const before = latest();
    const clock = { now: () => new Date(time), zone: 'Africa/Kigali' };
    const stops = [1, 2, 3].map(() => retrieveDaily(alone.pool, provider, pino({ level: 'silent' }), clock));
    for (const stop of stops) await stop();
    return latest() - before;
  };
  expect(await at('2026-03-01T22:00:30Z')).toBe(0);
  expect(await at('2026-03-01T22:01:00Z')).toBe(1);
  expect(await at('2026-03-02T21:59:00Z')).toBe(0);
  expect(await at('2026-03-02T22:00:59Z')).toBe(0);
  fx.behaviour = 'bad key';
  expect(await at('2026-03-02T22:01:00Z')).toBe(1);
  fx.behaviour = 'well';
  expect(await at('2026-03-02T22:30:00Z')).toBe(1);
  expect(await at('2026-03-02T23:30:00Z')).toBe(0);
  await alone.stop();
});

test('after a failure a running process waits an hour, and a starting one tries at once', async () => {
  const alone = await runningTrace();
  const settings = { FX_URL: fx.url, FX_ACCESS_KEY: FX_KEY };
  const provider = openProvider(alone.pool, settings, pino({ level: 'silent' }));
  if (!provider) throw new Error('there is a provider');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let time = '2026-03-02T22:01:00Z';
  const clock = { now: () => new Date(time), zone: 'Africa/Kigali' };
  const start = () => retrieveDaily(alone.pool, provider, pino({ level: 'silent' }), clock);
  const claimed = async () =>
    (await alone.pool.query('SELECT claimed_at, done_at FROM daily_retrievals')).rows[0] ?? {};
  fx.behaviour = 'bad key';
  const first = fx.asked.length;
  const running = start();
  await eventually(claimed, ({ claimed_at }) => claimed_at !== undefined);
  // The request follows the claim.
  const before = await eventually(
    async () => fx.asked.length,
    count => count > first,
  );
  for (time of ['2026-03-02T22:30:00Z', '2026-03-02T23:00:59Z']) await vi.advanceTimersByTimeAsync(20_000);
  await running();
  expect(fx.asked.length).toBe(before);
  time = '2026-03-02T22:31:00Z';
  fx.behaviour = 'well';
  await start()();
  expect((await claimed()).done_at).not.toBeNull();
  await alone.stop();
});

test('after a first start without the provider, the next start retrieves the rates', async () => {
  const settings = { FX_URL: fx.url, FX_ACCESS_KEY: FX_KEY };
  fx.behaviour = 'bad key';
  const keep = await runningTrace();
  const before = fx.asked.length;
  const first = await runningTrace(settings, keep);
  await eventually(
    async () => fx.asked.length,
    now => now > before,
  );
  const user = await first.loggedIn();
  const without = await convert('1/USD/to/EUR', user);
  expect([without.status, without.body]).toEqual([
    404,
    { status: 'NOT_FOUND', errorMessage: 'there are no rates of USD yet' },
  ]);
  await first.stop();
  fx.behaviour = 'well';
  const second = await runningTrace(settings, keep);
  const again = await second.login(user.email, PASSWORD);
  const answer = await eventually(
    () => convert('1/EUR/to/USD', again),
    ({ status }) => status === 200,
  );
  expect(answer.body.data.exact).toBe('1.0825');
  await second.stop();
  await keep.stop();
});

test('a conversion at a date fetches its rates even before any currency is stored', async () => {
  fx.behaviour = 'bad key';
  const alone = await runningTrace({ FX_URL: fx.url, FX_ACCESS_KEY: FX_KEY });
  const user = await alone.loggedIn();
  expect((await convert('1/USD/to/EUR/on/2024-05-15', user)).status).toBe(503);
  fx.behaviour = 'well';
  expect((await convert('1/EUR/to/USD/on/2024-05-15', user)).body.data).toMatchObject({
    date: '2024-05-15',
    exact: '1.0825',
  });
  const before = fx.asked.length;
  const unknown = await convert('1/EUR/to/QQQ/on/2024-05-15', user);
  expect([unknown.status, unknown.body.errorMessage]).toEqual([
    400,
    'to must be a supported currency; QQQ is unknown',
  ]);
  for (const code of ['usd', 'US', 'DOLLAR']) {
    expect((await convert(`1/EUR/to/${code}/on/2024-05-14`, user)).status).toBe(400);
  }
  expect(fx.asked.length).toBe(before);
  await alone.stop();
});

test("a user may cause 100 of the day's requests without affecting others; a SYSTEM_ADMIN may cause more", async () => {
  const greedy = await trace.loggedIn();
  await trace.pool.query('INSERT INTO provider_requests_by_user SELECT day, $1, 99 FROM provider_requests', [
    greedy.id,
  ]);
  const start = fx.asked.length;
  const [last, next] = ['2018-02-01', '2018-02-02'];
  expect((await convert(`1/USD/to/EUR/on/${last}`, greedy)).status).toBe(200);
  const refused = await convert(`1/USD/to/EUR/on/${next}`, greedy);
  expect([refused.status, refused.body]).toEqual([
    429,
    { status: 'TOO_MANY_REQUESTS', errorMessage: expect.stringMatching(/your 100/) },
  ]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await convert(`1/USD/to/EUR/on/${last}`, greedy)).status).toBe(200);
  const together = await Promise.all([greedy, user, admin].map(by => convert(`1/USD/to/EUR/on/${next}`, by)));
  // Depending on the order, the user with many requests shares another user's request.
  expect(together.slice(1).map(({ status }) => status)).toEqual([200, 200]);
  expect(fx.asked.slice(start)).toEqual([last, next]);
});

test("the day's requests run out with 429 at the limit, and one is reserved for the retrieval", async () => {
  const { used } = await budget();
  const start = fx.asked.length;
  const answers = [];
  for (let n = 0; answers.length < 300; n++) {
    const date = daysBefore('2019-12-31', n);
    if (date === fridayOrBefore(date)) answers.push(await convert(`1/USD/to/EUR/on/${date}`, admin));
  }
  const refused = answers.filter(({ status }) => status === 429);
  expect(fx.asked.length - start).toBe(250 - used);
  expect(refused).toHaveLength(300 - (250 - used));
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused[0]?.body.status).toBe('TOO_MANY_REQUESTS');
  expect(await budget()).toMatchObject({ used: 250, left: 0, kept: 0 });

  // Before the day's retrieval one request is reserved for it.
  await trace.pool.query('UPDATE daily_retrievals SET done_at = NULL');
  await trace.pool.query('UPDATE provider_requests SET used = 248');
  expect((await convert('1/USD/to/EUR/on/2018-01-02')).status).toBe(200);
  expect((await convert('1/USD/to/EUR/on/2018-01-03')).status).toBe(429);
  expect(await budget()).toMatchObject({ used: 249, left: 0, kept: 1 });
  const provider = openProvider(
    trace.pool,
    { FX_URL: fx.url, FX_ACCESS_KEY: FX_KEY },
    pino({ level: 'silent' }),
  );
  expect((await provider?.latest('daily'))?.rates.get('USD')).toBe('1.0825');
  await expect(provider?.latest('daily')).rejects.toMatchObject({ code: 'too_many_requests' });
}, 240_000);

test('every ISO 4217 currency exists without rates; a conversion names the currency without rates', async () => {
  const alone = await runningTrace();
  const user = await alone.loggedIn();
  const convert = async (rest: string) => {
    const { status, body } = await user.send('GET', `/api/chain/currency/convert/${rest}`);
    return [status, body.errorMessage ?? body.data.exact];
  };
  const list = async (query: string) =>
    (await user.send('GET', `/api/chain/currency-type/list?limit=1000&${query}`)).body.data;
  const { items, count } = await list('');
  expect(items.length).toBe(count);
  expect(items.map(({ code }: { code: string }) => code)).toEqual(
    expect.arrayContaining(['EUR', 'KES', 'RWF', 'UGX', 'USD', 'ZMW']),
  );
  expect((await list('query=RWF')).items).toEqual([
    { id: expect.any(Number), code: 'RWF', label: 'Rwandan Franc', enabled: true },
  ]);
  expect(await convert('1/RWF/to/KES')).toEqual([404, 'there are no rates of RWF and KES yet']);
  await alone.pool.query(
    "INSERT INTO currency_rates VALUES ('RWF', '2026-01-05', 1500), ('KES', '2026-01-06', 150)",
  );
  expect(await convert('1/USD/to/RWF')).toEqual([404, 'there are no rates of USD yet']);
  expect(await convert('1/RWF/to/KES')).toEqual([404, 'no day has rates of both RWF and KES']);
  expect(await convert('3/EUR/to/KES')).toEqual([200, '450']);
  expect(await convert('1/KES/to/RWF/on/2026-01-08')).toEqual([
    404,
    'no day up to 2026-01-08 has rates of both KES and RWF',
  ]);
  expect(await convert('1/USD/to/RWF/on/2026-01-07')).toEqual([
    404,
    'there are no rates of USD for 2026-01-07',
  ]);
  expect((await convert('1/QQQ/to/RWF'))[0]).toBe(400);
  expect((await list('query=RWF')).items[0].ratesUntil).toBe('2026-01-05');
  // Names of ISO 4217 do not replace names from the provider.
  await alone.pool.query("UPDATE currency_types SET label = 'Franc of Rwanda' WHERE code = 'RWF'");
  await alone.pool.query("UPDATE currency_types SET label = 'KES', enabled = false WHERE code = 'KES'");
  const again = await runningTrace({}, alone);
  expect((await list('query=RWF')).items[0].label).toBe('Franc of Rwanda');
  expect((await list('query=KES')).items[0]).toMatchObject({ label: 'Kenyan Shilling', enabled: false });
  expect((await list('')).count).toBe(count);
  await again.stop();
  await alone.stop();
});
