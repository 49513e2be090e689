import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { DateTime, listOf, listQuery, NO_NUL } from '../../base/contract/schemas.ts';
import { AMOUNT } from './convert.ts';
import { SORTABLE } from './store.ts';

const tags = ['Currency'];

const Code = (description: string) =>
  Type.String({
    pattern: '^[A-Z]{3}$',
    'x-reason': 'validation.currency',
    description: `${description} (ISO 4217)`,
    examples: ['USD'],
  });
const Amount = Type.String({
  pattern: AMOUNT,
  'x-reason': 'validation.decimal',
  description: 'amount: up to 20 digits before the point and 10 after it',
  examples: ['1250.50'],
});
const Day = (description: string) => Type.String({ maxLength: 10, description, examples: ['2026-03-02'] });

const Conversion = named(
  'Conversion',
  Type.Object({
    value: Type.String({ description: 'the amount as sent', examples: ['1250.50'] }),
    from: Type.String({ examples: ['USD'] }),
    to: Type.String({ examples: ['RWF'] }),
    date: Type.String({ description: 'date of the rates', examples: ['2026-03-02'] }),
    result: Type.Number({ description: 'the result as a number', examples: [1815725.5] }),
    exact: Type.String({
      description: 'the result with all six decimals; a number can lose digits',
      examples: ['1815725.5'],
    }),
  }),
);

export const convertSchema = {
  operationId: 'convertAmount',
  tags,
  summary: 'Convert an amount at the latest rates',
  description: 'amount × rate(to) ÷ rate(from), computed exactly and rounded once, half up, to six decimals.',
  params: Type.Object({ value: Amount, from: Code('currency of the amount'), to: Code('target currency') }),
  response: { 200: envelope(Conversion, 'the result'), ...failureAnswers(401, 404) },
};

export const convertAtDateSchema = {
  ...convertSchema,
  operationId: 'convertAmountAtDate',
  summary: 'Convert an amount at the rates of a date',
  description:
    'Missing rates are requested from the provider once: at most 250 times a day, and 100 for one user (429). On ' +
    'weekends and holidays, the rates of the previous working day apply.',
  params: Type.Object({
    value: Amount,
    from: Code('currency of the amount'),
    to: Code('target currency'),
    date: Day('YYYY-MM-DD, from 1999-01-04 to today'),
  }),
};

const CurrencyType = named(
  'CurrencyType',
  Type.Object({
    id: Type.Integer({ examples: [7] }),
    code: Type.String({ examples: ['RWF'] }),
    label: Type.String({ examples: ['Rwandan Franc'] }),
    enabled: Type.Boolean({ description: 'whether it can be converted, and is offered to companies' }),
    ratesUntil: Type.Optional(
      Type.String({
        description: 'only in lists: the latest day with a rate; absent if there is none',
        examples: ['2026-03-02'],
      }),
    ),
  }),
);

/** The sortable fields and the defaults of the list of currencies. */
export const TYPE_ORDER = [SORTABLE, { limit: 100, sort: 'ASC' }] as const;

const searched = {
  query: Type.Optional(
    Type.String({ maxLength: 100, pattern: NO_NUL, description: 'part of the code or name' }),
  ),
};
const typesPage = { 200: envelope(listOf(CurrencyType), 'a page of currencies'), ...failureAnswers(401) };

export const listTypesSchema = {
  operationId: 'listCurrencyTypes',
  tags,
  summary: 'List currencies',
  querystring: listQuery(
    TYPE_ORDER[0],
    {
      ...searched,
      enabled: Type.Optional(
        Type.Boolean({
          description: 'only currencies that are enabled (true) or disabled (false) for conversion',
        }),
      ),
    },
    TYPE_ORDER[1],
  ),
  response: typesPage,
};

/** The list of enabled or of disabled currencies. */
export const listTypesInStateSchema = (operationId: string, summary: string) => ({
  operationId,
  tags,
  summary,
  querystring: listQuery(TYPE_ORDER[0], searched, TYPE_ORDER[1]),
  response: typesPage,
});

export const switchTypeSchema = (operationId: string, summary: string) => ({
  operationId,
  tags,
  summary,
  params: Type.Object({
    code: Type.String({
      pattern: '^([A-Z]{3}|[1-9][0-9]{0,9})$',
      description: 'code (ISO 4217) or id of the currency',
      examples: ['USD'],
    }),
  }),
  response: { 200: envelope(CurrencyType, 'the updated currency'), ...failureAnswers(401, 403, 404) },
});

const ratesQuery = Type.Object({
  from: Type.Optional(Day('first day; by default a year before the last')),
  to: Type.Optional(Day('last day; by default today')),
});

export const ratesSchema = {
  operationId: 'getRates',
  tags,
  summary: 'Get the daily value of one euro in a currency',
  description: 'Returns up to ten years (3,660 days) at once.',
  params: Type.Object({ code: Code('the currency') }),
  querystring: ratesQuery,
  response: {
    200: envelope(
      Type.Object({
        code: Type.String(),
        base: Type.Literal('EUR'),
        items: Type.Array(
          Type.Object({
            date: Type.String({ examples: ['2026-03-02'] }),
            value: Type.String({ description: 'a decimal', examples: ['1452.0325'] }),
          }),
        ),
      }),
      'the rates, oldest first',
    ),
    ...failureAnswers(401, 404),
  },
};

export const ratesChartSchema = {
  operationId: 'getRatesChart',
  tags,
  summary: 'Draw the daily values of a currency as a line chart',
  params: Type.Object({ code: Code('the currency') }),
  querystring: ratesQuery,
  response: {
    200: { description: 'a picture', content: { 'image/svg+xml': { schema: Type.String() } } },
    ...failureAnswers(401, 404),
  },
};

export const budgetSchema = {
  operationId: 'getProviderBudget',
  tags,
  summary: 'Get the number of requests to the provider left today',
  response: {
    200: envelope(
      Type.Object({
        day: Type.String({ description: "by the server's clock", examples: ['2026-03-02'] }),
        hasProvider: Type.Boolean({ description: 'whether a provider is set (FX_URL)' }),
        limit: Type.Integer({ examples: [250] }),
        used: Type.Integer({ description: 'number of requests; each is counted before it is sent' }),
        left: Type.Integer({ description: 'requests left for conversions' }),
        kept: Type.Integer({ description: 'reserved for the daily retrieval at 00:01 until it is done' }),
      }),
      "today's budget",
    ),
    ...failureAnswers(401, 403),
  },
};

/** The European Central Bank's history has about 2 MB. */
export const MAX_RATES_BYTES = 32 * 1024 ** 2;

const Imported = {
  rates: Type.Integer({ description: 'rates in the file', examples: [219_000] }),
  days: Type.Integer({ description: 'lines in the file, one per day', examples: [6900] }),
  currencies: Type.Integer({ examples: [41] }),
  dates: Type.Optional(
    Type.Object(
      { from: Type.String({ examples: ['1999-01-04'] }), to: Type.String({ examples: ['2026-03-02'] }) },
      { description: 'the first and the last day' },
    ),
  ),
};

export const importRatesSchema = {
  operationId: 'importRates',
  tags,
  summary: 'Import the history of exchange rates of the European Central Bank',
  description:
    'Send eurofxref-hist.csv, at most 32 MB, in the part `file`: one line per day, one column per currency. It ' +
    'is imported completely or not at all; 400 lists the invalid lines. Existing rates are replaced.',
  consumes: ['multipart/form-data'],
  querystring: Type.Object({
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'also accepts rates that differ from a neighbouring day by more than a factor of 5',
      }),
    ),
  }),
  body: Type.Object({ file: Type.String({ format: 'binary', description: 'the file, unpacked' }) }),
  response: {
    200: envelope(Type.Object(Imported), 'what was imported'),
    ...failureAnswers(401, 403, 413, 415),
  },
};

export const lastImportSchema = {
  operationId: 'getLastImportOfRates',
  tags,
  summary: 'Get the last import of rates from a file',
  description: 'Includes imports by `fieldtrace import ecb-rates`.',
  response: {
    200: envelope(
      Type.Object({
        last: Type.Optional(
          Type.Object(
            { at: DateTime, file: Type.String({ examples: ['eurofxref-hist.csv'] }), ...Imported },
            { description: 'absent if there was none' },
          ),
        ),
      }),
      'the last import',
    ),
    ...failureAnswers(401, 403),
  },
};
