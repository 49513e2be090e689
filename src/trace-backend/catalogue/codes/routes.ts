import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { languageOf } from '../../base/contract/language.ts';
import { listAnswer, pageOf, pathIdOf } from '../../base/contract/schemas.ts';
import { tagVersion } from '../../base/records/answers.ts';
import { CODE_LISTS, type CodeList } from './lists.ts';
import { type CodesContext, removeCode, saveCode, unknownCode } from './save.ts';
import { schemasOf } from './schemas.ts';
import { findCode, listCodes, SORTABLE } from './store.ts';
import { asCodes } from './view.ts';

/** Names in operations that differ from the list's name, for generated clients. */
const NAMES: Record<string, string> = { MeasureUnitType: 'MeasurementUnitType' };

export function registerCodes(app: Server, context: CodesContext): void {
  const { productTypes, semiProducts, ...others } = CODE_LISTS;
  for (const list of [semiProducts, ...Object.values(others)]) {
    registerReading(app, context, list, { listPath: `${list.path}/list`, listId: `get${list.name}List` });
    registerSaving(app, context, list);
  }
  registerDetails(app, context, semiProducts);
  registerReading(app, context, productTypes, { listPath: productTypes.path, listId: 'getProductTypes' });
  registerProductTypes(app, context);
}

function registerReading(
  app: Server,
  context: CodesContext,
  list: CodeList,
  { listPath, listId }: { listPath: string; listId: string },
): void {
  const { pool, lists } = context;
  const schemas = schemasOf(list);
  const name = NAMES[list.name] ?? list.name;
  app.get(
    listPath,
    { config: { access: 'user' }, schema: { operationId: listId, ...schemas.list } },
    async ({ query, headers }) => {
      const page = pageOf(query, SORTABLE);
      const language = languageOf(headers);
      const { items, count } = await listCodes(pool, lists, list, { language }, page);
      return ok(listAnswer(page, { items: await asCodes(pool, list, items, language), count }));
    },
  );
  registerGet(app, context, list, { path: `${list.path}/:id`, operationId: `get${name}` });
  app.delete(
    `${list.path}/:id`,
    { config: { access: 'system-admin' }, schema: { operationId: `delete${name}`, ...schemas.remove } },
    async request => {
      await removeCode(context, requesterOf(request), list, requestedId(request));
      return { status: 'OK' as const };
    },
  );
}

function registerGet(
  app: Server,
  { pool }: CodesContext,
  list: CodeList,
  { path, operationId }: { path: string; operationId: string },
): void {
  app.get(
    path,
    { config: { access: 'user' }, schema: { operationId, ...schemasOf(list).get } },
    async (request, reply) => {
      const code = await findCode(pool, list, requestedId(request));
      if (!code) throw unknownCode(list);
      tagVersion(reply, code.version);
      const [item] = await asCodes(pool, list, [code], languageOf(request.headers));
      return ok(item as { id: number });
    },
  );
}

/** The id in the query, if the schema has it, otherwise the id in the path. */
function requestedId({ params, query }: { params: { id: string }; query: unknown }): number {
  const { id } = query as { id?: unknown };
  return typeof id === 'number' ? id : pathIdOf(params.id);
}

/** Generated clients read semi-products at two paths. */
function registerDetails(app: Server, context: CodesContext, list: CodeList): void {
  registerGet(app, context, list, { path: `${list.path}/:id/detail`, operationId: `get${list.name}Details` });
}

function registerSaving(app: Server, context: CodesContext, list: CodeList): void {
  app.put(
    list.path,
    {
      config: { access: 'regional-admin' },
      schema: {
        operationId: `createOrUpdate${NAMES[list.name] ?? list.name}`,
        summary: `Add or change a ${list.noun}`,
        ...schemasOf(list).save,
      },
    },
    async request => ok({ id: await saveCode(context, requesterOf(request), list, request.body) }),
  );
}

/** Product types are added and changed by different methods. */
function registerProductTypes(app: Server, context: CodesContext): void {
  const list = CODE_LISTS.productTypes;
  const { save } = schemasOf(list);
  app.post(
    list.path,
    {
      config: { access: 'regional-admin' },
      schema: { operationId: 'createProductType', summary: 'Add a product type', ...save },
    },
    async request =>
      ok({ id: await saveCode(context, requesterOf(request), list, { ...request.body, id: null }) }),
  );
  app.put(
    list.path,
    {
      config: { access: 'system-admin' },
      schema: { operationId: 'updateProductType', summary: 'Change a product type', ...save },
    },
    async request => {
      const { body } = request;
      if (body.id == null) throw new Problem('validation.required', { field: 'id' });
      return ok({ id: await saveCode(context, requesterOf(request), list, body) });
    },
  );
}
