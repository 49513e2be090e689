import type pg from 'pg';
import type { Server } from '../../../platform/http/server.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { saveSetting } from './save.ts';
import { getPublicSettingSchema, getSettingSchema, updateSettingSchema } from './schemas.ts';
import { findSetting, type GlobalSetting } from './store.ts';

/** Settings of the front end: users read all, everyone reads public ones, a SYSTEM_ADMIN writes them. */
export function registerGlobalSettings(app: Server, { pool }: { pool: pg.Pool }): void {
  const path = '/api/common/globalSettings/:name';
  app.get(path, { config: { access: 'user' }, schema: getSettingSchema }, async ({ params }) =>
    ok(asAnswer(await findSetting(pool, params.name))),
  );
  app.post(path, { config: { access: 'system-admin' }, schema: updateSettingSchema }, async request => {
    await saveSetting(pool, requesterOf(request), request.params.name, request.body);
    return { status: 'OK' as const };
  });
  app.get(
    '/api/public/globalSettings/:name',
    { config: { access: 'open' }, schema: getPublicSettingSchema },
    async ({ params }) => {
      const found = await findSetting(pool, params.name);
      return ok(asAnswer(found?.isPublic ? found : undefined));
    },
  );
}

function asAnswer(found: GlobalSetting | undefined) {
  return found ? { ...(found.value !== null && { value: found.value }), isPublic: found.isPublic } : {};
}
