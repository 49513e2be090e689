import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { callerShare } from '../../../platform/http/caller-share.ts';
import { takeForms } from '../../../platform/http/form.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Fault } from '../../../platform/http/reasons/catalogue.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { Slots } from '../../../platform/limits/slots.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { listActions } from '../../base/audit/store.ts';
import { ok } from '../../base/contract/envelope.ts';
import { listAnswer, pageOf, pathIdOf } from '../../base/contract/schemas.ts';
import { receiveFile, tooLarge } from '../images/form.ts';
import { checkDate, daysBefore, localTime } from './calendar.ts';
import { drawRates } from './chart.ts';
import { IMPORTED, type Imported, importRates } from './import-ecb.ts';
import { DAILY_LIMIT } from './provider.ts';
import type { Conversion, Currencies } from './rates.ts';
import {
  budgetSchema,
  convertAtDateSchema,
  convertSchema,
  importRatesSchema,
  lastImportSchema,
  listTypesInStateSchema,
  listTypesSchema,
  MAX_RATES_BYTES,
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

/** Maximum days of rates per answer: ten years. */
const MAX_DAYS = 3660;

interface CurrencyContext {
  pool: pg.Pool;
  currencies: Currencies;
  files: FileStore;
  slots: Slots;
}

export function registerCurrency(
  app: Server,
  { pool, currencies, files, slots }: CurrencyContext,
  settings: Pick<Settings, 'UPLOADS_PER_CALLER' | 'FX_URL'>,
): void {
  const access = { access: 'user' } as const;
  const path = '/api/chain/currency/convert/:value/:from/to/:to';
  app.get(path, { config: access, schema: convertSchema }, async ({ params: { value, from, to } }) =>
    ok(asAnswer(value, from, to, await currencies.convert(value, from, to))),
  );
  app.get(`${path}/on/:date`, { config: access, schema: convertAtDateSchema }, async request => {
    const { value, from, to, date } = request.params;
    const { id, role } = callerOf(request);
    const requester = { userId: role === 'SYSTEM_ADMIN' ? undefined : id };
    return ok(asAnswer(value, from, to, await currencies.convertAtDate(value, from, to, date, requester)));
  });
  registerTypes(app, pool);
  registerRates(app, pool);
  registerImport(app, { pool, files, slots }, settings);

  app.get(
    '/api/chain/currency/budget',
    { config: { access: 'system-admin' }, schema: budgetSchema },
    async () => {
      const { day } = localTime(new Date());
      const [used, retrieved] = await Promise.all([findUsed(pool, day), isRetrieved(pool, day)]);
      const reserved = retrieved ? 0 : 1;
      const hasProvider = settings.FX_URL !== undefined;
      return ok({
        hasProvider,
        day,
        limit: DAILY_LIMIT,
        used,
        left: Math.max(0, DAILY_LIMIT - reserved - used),
        kept: reserved,
      });
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
  for (const [state, enabled, operationId] of [
    ['enabled', true, 'getEnabledCurrencyTypes'],
    ['disabled', false, 'getDisabledCurrencyTypes'],
  ] as const) {
    app.get(
      `/api/chain/currency-type/list/${state}`,
      { config: { access: 'user' }, schema: listTypesInStateSchema(operationId, `List ${state} currencies`) },
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
    if (!found) throw new Problem('currency.unknown', { code: name });
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
    if (from > to || from < daysBefore(to, MAX_DAYS)) {
      throw new Problem('exchange_rate.wrong_period', { field: 'from' });
    }
    if (!(await findCurrency(pool, code))) throw new Problem('currency.unknown', { code });
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
      if (items.length === 0) throw new Problem('exchange_rate.none_in_period', { code });
      return reply
        .headers({
          'cache-control': 'private, no-cache',
          'content-security-policy': "default-src 'none'",
        })
        .type('image/svg+xml; charset=utf-8')
        .serializer(asIs)
        .send(drawRates(code, items));
    },
  );
}

const asIs = (text: unknown) => text as string;

const IMPORT_PATH = '/api/chain/currency/import/ecb';

/** The import of a file of rates, and the result of the last import, from the audit. */
function registerImport(
  app: Server,
  { pool, files, slots }: Pick<CurrencyContext, 'pool' | 'files' | 'slots'>,
  { UPLOADS_PER_CALLER }: Pick<Settings, 'UPLOADS_PER_CALLER'>,
): void {
  const takeShare = callerShare(slots, { perCaller: UPLOADS_PER_CALLER, what: 'uploads', retryAfter: 5 });
  const config = { access: 'system-admin' } as const;
  // A separate context, because its body parser applies to no other route.
  app.register(async scope => {
    await takeForms(scope as Server, MAX_RATES_BYTES, () => tooLarge(MAX_RATES_BYTES));
    (scope as Server).post(IMPORT_PATH, { config, schema: importRatesSchema }, async (request, reply) => {
      await takeShare(request, reply, String(callerOf(request).id));
      const { received, name } = await receiveFile(request, files, MAX_RATES_BYTES);
      try {
        const file = { path: received.path, name: nameOf(name) };
        return ok(
          await importRates(pool, file, requesterOf(request), { force: request.query.force === true }),
        );
      } catch (error) {
        throw aboutFile(error);
      } finally {
        await received.discard();
      }
    });
  });

  app.get(IMPORT_PATH, { config, schema: lastImportSchema }, async () => {
    const [last] = await listActions(pool, IMPORTED, 1);
    if (!last) return ok({});
    const details = last.details as unknown as Imported & { file: string };
    return ok({ last: { ...details, at: last.at.toISOString() } });
  });
}

/** Maximum characters of a file name in messages and in the audit. */
const NAME_LENGTH = 100;

/** The last path element of a file name. */
function nameOf(name = ''): string {
  const last = name.split(/[\\/]/).at(-1)?.replaceAll('\0', '').slice(0, NAME_LENGTH).trim();
  return last || 'the file';
}

/** Makes an error of a file name the field of the form. */
function aboutFile(error: unknown): unknown {
  if (!(error instanceof Problem) || error.code !== 'invalid') return error;
  const [first, ...others] = error.faults as [Fault, ...Fault[]];
  return new Problem([{ ...first, parameters: { ...first.parameters, field: 'file' } }, ...others]);
}
