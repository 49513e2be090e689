import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import { transaction } from '../../platform/postgres/database.ts';
import { callerOf } from '../access/authentication.ts';
import { audit } from '../audit/audit.ts';
import { ok } from '../contract/envelope.ts';
import { listAnswer, pageOf, pathIdOf } from '../contract/schemas.ts';
import { checkDate, daysBefore, localTime } from './calendar.ts';
import { drawRates } from './chart.ts';
import { DAILY_LIMIT } from './provider.ts';
import type { Conversion, Currencies } from './rates.ts';
import {
  budgetSchema,
  convertAtDateSchema,
  convertSchema,
  listTypesInStateSchema,
  listTypesSchema,
  ratesChartSchema,
  ratesSchema,
  switchTypeSchema,
  TYPE_ORDER,
} from './schemas.ts';
import {
  type CurrencyType,
  findCurrency,
  findCurrencyById,
  findUsed,
  isRetrieved,
  listCurrencies,
  listRates,
  setEnabled,
} from './store.ts';

/** Days of rates in one answer, at most: ten years. */
const MAX_DAYS = 3660;

export function registerCurrency(
  app: Server,
  { pool, currencies }: { pool: pg.Pool; currencies: Currencies },
): void {
  const access = { access: 'user' } as const;
  const path = '/api/chain/currency/convert/:value/:from/to/:to';
  app.get(path, { config: access, schema: convertSchema }, async ({ params: { value, from, to } }) =>
    ok(asAnswer(value, from, to, await currencies.convert(value, from, to))),
  );
  app.get(`${path}/on/:date`, { config: access, schema: convertAtDateSchema }, async request => {
    const { value, from, to, date } = request.params;
    const { id, role } = callerOf(request);
    const asker = { userId: role === 'SYSTEM_ADMIN' ? undefined : id };
    return ok(asAnswer(value, from, to, await currencies.convertAtDate(value, from, to, date, asker)));
  });
  registerTypes(app, pool);
  registerRates(app, pool);

  app.get(
    '/api/chain/currency/budget',
    { config: { access: 'system-admin' }, schema: budgetSchema },
    async () => {
      const { day } = localTime(new Date());
      const [used, retrieved] = await Promise.all([findUsed(pool, day), isRetrieved(pool, day)]);
      const kept = retrieved ? 0 : 1;
      return ok({ day, limit: DAILY_LIMIT, used, left: Math.max(0, DAILY_LIMIT - kept - used), kept });
    },
  );
}

function asAnswer(value: string, from: string, to: string, { date, result }: Conversion) {
  return { value, from, to, date, result: Number(result), exact: result };
}

function registerTypes(app: Server, pool: pg.Pool): void {
  app.get(
    '/api/chain/currency-type/list',
    { config: { access: 'user' }, schema: listTypesSchema },
    async ({ query }) => {
      const page = pageOf(query, ...TYPE_ORDER);
      return ok(listAnswer(page, await listCurrencies(pool, query, page)));
    },
  );
  for (const [word, enabled, operationId] of [
    ['enabled', true, 'getEnabledCurrencyTypes'],
    ['disabled', false, 'getDisabledCurrencyTypes'],
  ] as const) {
    app.get(
      `/api/chain/currency-type/list/${word}`,
      { config: { access: 'user' }, schema: listTypesInStateSchema(operationId, `List ${word} currencies`) },
      async ({ query }) => {
        const page = pageOf(query, ...TYPE_ORDER);
        return ok(listAnswer(page, await listCurrencies(pool, { query: query.query, enabled }, page)));
      },
    );
  }
  for (const [word, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    const schema = switchTypeSchema(
      enabled ? 'enableCurrency' : 'disableCurrency',
      enabled ? 'Enable conversion of a currency' : 'Disable conversion of a currency',
    );
    app.put(
      `/api/chain/currency-type/:code/${word}`,
      { config: { access: 'system-admin' }, schema },
      async request => ok(await switchType(pool, request, request.params.code, enabled)),
    );
  }
}

/** @param name code or id of the currency */
async function switchType(
  pool: pg.Pool,
  request: FastifyRequest,
  name: string,
  enabled: boolean,
): Promise<CurrencyType> {
  return transaction(pool, async database => {
    const found = /^[A-Z]/.test(name)
      ? await findCurrency(database, name)
      : await findCurrencyById(database, pathIdOf(name));
    if (!found) throw new Problem('not_found', `there is no currency ${name}`);
    const changed = await setEnabled(database, found.code, enabled);
    const action = enabled ? 'ENABLE_CURRENCY' : 'DISABLE_CURRENCY';
    if (changed) await audit(database, request, { action, entity: 'currency', entityId: found.code });
    return changed ?? { ...found, enabled };
  });
}

function registerRates(app: Server, pool: pg.Pool): void {
  const read = async (code: string, query: { from?: string; to?: string }) => {
    const today = localTime(new Date()).day;
    const to = checkDate(query.to ?? today, 'to', today);
    const from = checkDate(query.from ?? daysBefore(to, 365), 'from', today);
    const sentence = `from must be at most ten years before to, and not after it`;
    if (from > to || from < daysBefore(to, MAX_DAYS))
      throw new Problem('invalid', sentence, { fields: { from: sentence } });
    if (!(await findCurrency(pool, code))) throw new Problem('not_found', `there is no currency ${code}`);
    return listRates(pool, code, { from, to });
  };

  app.get(
    '/api/chain/currency/rates/:code',
    { config: { access: 'user' }, schema: ratesSchema },
    async ({ params: { code }, query }) => ok({ code, base: 'EUR' as const, items: await read(code, query) }),
  );
  app.get(
    '/api/chain/currency/rates/:code.svg',
    { config: { access: 'user' }, schema: ratesChartSchema },
    async ({ params: { code }, query }, reply) => {
      const items = await read(code, query);
      if (items.length === 0) throw new Problem('not_found', `there are no rates of ${code} in that time`);
      return reply
        .headers({
          'cache-control': 'private, max-age=3600',
          'content-security-policy': "default-src 'none'",
        })
        .type('image/svg+xml; charset=utf-8')
        .serializer(asIs)
        .send(drawRates(code, items));
    },
  );
}

const asIs = (text: unknown) => text as string;
