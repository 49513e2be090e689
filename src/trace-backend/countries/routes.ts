import type { Server } from '../../platform/http/server.ts';
import { envelope, failureAnswers, ok } from '../contract/envelope.ts';
import { listAnswer, listOf, listQuery, pageOf } from '../contract/schemas.ts';
import { COUNTRIES } from './countries.ts';
import { Country } from './schemas.ts';

const SORTABLE = ['name'] as const;
/** More than there are: a form shows all of them, so nobody has to ask twice. */
const DEFAULTS = { limit: 500, sort: 'ASC' } as const;

export function registerCountries(app: Server): void {
  app.get(
    '/api/common/countries',
    {
      config: { access: 'open' },
      schema: {
        tags: ['Company'],
        summary: 'Countries',
        description: 'Those of ISO 3166-1, by name. All at once, unless fewer are asked for.',
        querystring: listQuery(SORTABLE, {}, DEFAULTS),
        response: { 200: envelope(listOf(Country), 'countries'), ...failureAnswers() },
      },
    },
    async ({ query }) => {
      const page = pageOf(query, SORTABLE, DEFAULTS);
      const all = page.sort === 'ASC' ? COUNTRIES : COUNTRIES.toReversed();
      const items = all.slice(page.offset, page.offset + page.limit);
      return ok(listAnswer(page, { items, count: all.length }));
    },
  );
}
