import { Type } from 'typebox';
import type { Server } from '../../platform/http/server.ts';
import { envelope, failureAnswers, ok } from '../contract/envelope.ts';
import { listOf } from '../contract/schemas.ts';
import { COUNTRIES } from './countries.ts';
import { Country } from './schemas.ts';

/** More than there are: a form shows all of them, so nobody has to ask twice. */
const LIMIT = 500;

export function registerCountries(app: Server): void {
  app.get(
    '/api/common/countries',
    {
      config: { access: 'open' },
      schema: {
        tags: ['Company'],
        summary: 'Countries',
        description: 'Those of ISO 3166-1, by name. All at once, unless fewer are asked for.',
        querystring: Type.Object({
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: LIMIT, default: LIMIT, description: 'items, at most' }),
          ),
          offset: Type.Optional(
            Type.Integer({ minimum: 0, maximum: LIMIT, default: 0, description: 'items left out before' }),
          ),
        }),
        response: { 200: envelope(listOf(Country), 'countries'), ...failureAnswers() },
      },
    },
    async ({ query: { limit = LIMIT, offset = 0 } }) => {
      const items = COUNTRIES.slice(offset, offset + limit);
      return ok({ items, count: COUNTRIES.length, offset, limit });
    },
  );
}
