import type pg from 'pg';
import { type Server, sendText } from '../../../../platform/http/server.ts';
import { callerOf } from '../../../base/access/authentication.ts';
import { requesterOf } from '../../../base/access/requester.ts';
import { ok } from '../../../base/contract/envelope.ts';
import { pathIdOf } from '../../../base/contract/schemas.ts';
import { tagVersion } from '../../../base/records/answers.ts';
import { chooseDocuments, listDocuments } from './documents.ts';
import { getDocumentsSchema, updateDocumentsSchema } from './schemas.ts';

const PATH = '/api/product/label/:id/documents';

/** The documents of the owner that labels show. */
export function registerLabelDocuments(app: Server, context: { pool: pg.Pool }): void {
  const { pool } = context;
  app.get(
    PATH,
    { config: { access: 'product.readable' }, schema: getDocumentsSchema },
    async (request, reply) => {
      const id = pathIdOf(request.params.id);
      const { version, documents } = await listDocuments(pool, callerOf(request), id);
      tagVersion(reply, version);
      return sendText(reply, JSON.stringify(ok(documents)));
    },
  );

  app.put(
    PATH,
    { config: { access: 'product.changeable' }, schema: updateDocumentsSchema },
    async request => {
      await chooseDocuments(context, requesterOf(request), pathIdOf(request.params.id), request.body);
      return { status: 'OK' as const };
    },
  );
}
