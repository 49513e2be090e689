import type { Server } from '../../../platform/http/server.ts';
import { ok } from '../contract/envelope.ts';
import { listAnswer, pageOf } from '../contract/schemas.ts';
import { COUNTRIES, searchCountries } from './countries.ts';
import { DEFAULTS, listCountriesSchema, SORTABLE } from './schemas.ts';

export function registerCountries(app: Server): void {
  app.get(
    '/api/common/countries',
    { config: { access: 'open' }, schema: listCountriesSchema },
    async ({ query }) => {
      const page = pageOf(query, SORTABLE, DEFAULTS);
      const found = query.queryString === undefined ? COUNTRIES : searchCountries(query.queryString);
      const all = page.sort === 'ASC' ? found : found.toReversed();
      const items = all.slice(page.offset, page.offset + page.limit);
      return ok(listAnswer(page, { items, count: all.length }));
    },
  );
}
