import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { envelope, failureAnswers } from '../contract/envelope.ts';
import { listOf, listQuery, NO_NUL } from '../contract/schemas.ts';

export const Country = named(
  'Country',
  Type.Object({
    id: Type.Integer({ examples: [184] }),
    code: Type.String({ description: 'ISO 3166-1 alpha-2', examples: ['RW'] }),
    name: Type.String({ examples: ['Rwanda'] }),
  }),
);

export const SORTABLE = ['name'] as const;

/** The limit exceeds the number of countries: forms show all of them. */
export const DEFAULTS = { limit: 500, sort: 'ASC' } as const;

export const listCountriesSchema = {
  operationId: 'listCountries',
  tags: ['Company'],
  summary: 'List countries',
  description: 'Returns the countries of ISO 3166-1, by name; all by default.',
  querystring: listQuery(
    SORTABLE,
    {
      queryString: Type.Optional(
        Type.String({
          maxLength: 255,
          pattern: NO_NUL,
          description: 'part of the name, or the code; case is ignored',
        }),
      ),
    },
    DEFAULTS,
  ),
  response: { 200: envelope(listOf(Country), 'countries'), ...failureAnswers() },
};
