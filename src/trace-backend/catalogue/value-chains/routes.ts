import type { Server } from '../../../platform/http/server.ts';
import { type Caller, callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { type Language, languageOf } from '../../base/contract/language.ts';
import {
  listAnswer,
  type Page,
  pageOf,
  pathIdOf,
  queryIdsOf,
  searchTextOf,
} from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { listPage, tagVersion } from '../../base/records/answers.ts';
import { CODE_LISTS, type CodeList } from '../codes/lists.ts';
import { SORTABLE as CODE_SORTABLE, type CodeSort, listCodes } from '../codes/store.ts';
import { asCodes } from '../codes/view.ts';
import { findCompanyProductTypes } from './companies-store.ts';
import {
  removeValueChain,
  type SavingContext,
  saveValueChain,
  switchValueChain,
  unknownValueChain,
} from './save.ts';
import {
  codesOfOneSchema,
  codesOfSeveralSchema,
  companyProductTypesSchema,
  companyValueChainsSchema,
  deleteValueChainSchema,
  getValueChainSchema,
  listValueChainsSchema,
  saveValueChainSchema,
  switchValueChainSchema,
} from './schemas.ts';
import {
  findLinked,
  findValueChain,
  LINKS,
  type LinkField,
  listValueChains,
  SORTABLE,
  type ValueChainFilter,
} from './store.ts';
import { asBriefValueChains, asValueChain } from './view.ts';

interface ValueChainsContext extends SavingContext {
  lists: Lists;
  /** throws Problem not_found for a company that the caller may not see */
  checkCompany: (caller: Caller, companyId: number) => Promise<unknown>;
}

const PATH = '/api/chain/value-chain';

export function registerValueChains(app: Server, context: ValueChainsContext): void {
  registerReading(app, context);
  registerChanging(app, context);
  registerCodes(app, context);
  registerCompanies(app, context);
}

function registerReading(app: Server, context: ValueChainsContext): void {
  const { pool } = context;
  app.get(
    `${PATH}/list`,
    { config: { access: 'user' }, schema: listValueChainsSchema },
    async ({ query, headers }) => {
      const { valueChainStatus: status, productTypeId } = query;
      const filter = { query: searchTextOf(query), status, productTypeId };
      return ok(await valueChainsPage(context, filter, query, languageOf(headers)));
    },
  );

  app.get(
    `${PATH}/:id`,
    { config: { access: 'user' }, schema: getValueChainSchema },
    async ({ params, headers }, reply) => {
      const found = await findValueChain(pool, pathIdOf(params.id));
      if (!found) throw unknownValueChain();
      tagVersion(reply, found.version);
      return ok(await asValueChain(pool, found, languageOf(headers)));
    },
  );
}

const valueChainsPage = (
  { pool, lists }: ValueChainsContext,
  filter: ValueChainFilter,
  query: Parameters<typeof listPage>[0],
  language: Language,
) =>
  listPage(
    query,
    SORTABLE,
    page => listValueChains(pool, lists, filter, page),
    items => asBriefValueChains(pool, items, language),
  );

function registerChanging(app: Server, context: ValueChainsContext): void {
  app.put(PATH, { config: { access: 'regional-admin' }, schema: saveValueChainSchema }, async request =>
    ok({ id: await saveValueChain(context, requesterOf(request), request.body) }),
  );

  for (const [word, operationId, status, summary] of [
    ['enable', 'enableValueChain', 'ENABLED', 'Enable a value chain'],
    ['disable', 'disableValueChain', 'DISABLED', 'Disable a value chain'],
  ] as const) {
    app.post(
      `${PATH}/:id/${word}`,
      { config: { access: 'system-admin' }, schema: switchValueChainSchema(operationId, summary) },
      async request => {
        const id = pathIdOf(request.params.id);
        await switchValueChain(context, requesterOf(request), id, status);
        return ok({ id });
      },
    );
  }

  app.delete(
    `${PATH}/:id`,
    { config: { access: 'system-admin' }, schema: deleteValueChainSchema },
    async request => {
      await removeValueChain(context, requesterOf(request), pathIdOf(request.params.id));
      return { status: 'OK' as const };
    },
  );
}

/** The codes of value chains, below the paths of the code lists. */
function registerCodes(app: Server, context: ValueChainsContext): void {
  const { pool } = context;
  const { processingEvidenceFields, processingEvidenceTypes, semiProducts } = CODE_LISTS;
  for (const [field, { path }, operationId] of [
    ['processingEvidenceFields', processingEvidenceFields, 'listProcessingEvidenceFieldsByValueChains'],
    ['processingEvidenceTypes', processingEvidenceTypes, 'listProcessingEvidenceTypesByValueChains'],
    ['semiProducts', semiProducts, 'getSemiProductListByValueChains'],
  ] as const) {
    app.get(
      `${path}/list/by-value-chains`,
      { config: { access: 'user' }, schema: codesOfSeveralSchema(LINKS[field].list, operationId) },
      async ({ query, headers }) => {
        const page = pageOf(query, CODE_SORTABLE);
        return ok(
          await usedCodes(context, field, queryIdsOf(query.valueChainIds), page, languageOf(headers)),
        );
      },
    );
  }
  for (const [field, { path }, operationId] of [
    ['processingEvidenceFields', processingEvidenceFields, 'listProcessingEvidenceFieldsByValueChain'],
    ['processingEvidenceTypes', processingEvidenceTypes, 'listProcessingEvidenceTypesByValueChain'],
  ] as const) {
    app.get(
      `${path}/list/value-chain/:id`,
      { config: { access: 'user' }, schema: codesOfOneSchema(LINKS[field].list, operationId) },
      async ({ params, query, headers }) => {
        const found = await findValueChain(pool, pathIdOf(params.id));
        if (!found) throw unknownValueChain();
        const page = pageOf(query, CODE_SORTABLE);
        return ok(await usedCodes(context, field, [found.id], page, languageOf(headers)));
      },
    );
  }
}

async function usedCodes(
  context: ValueChainsContext,
  field: LinkField,
  valueChainIds: readonly number[],
  page: Page<CodeSort>,
  language: Language,
) {
  const ids = await findLinked(context.pool, field, valueChainIds);
  return codesPage(context, LINKS[field].list, ids, page, language);
}

async function codesPage(
  { pool, lists }: ValueChainsContext,
  list: CodeList,
  ids: readonly number[],
  page: Page<CodeSort>,
  language: Language,
) {
  const { items, count } = await listCodes(pool, lists, list, { language, ids }, page);
  return listAnswer(page, { items: await asCodes(pool, list, items, language), count });
}

/** The value chains and product types of a company, for callers who may see the company. */
function registerCompanies(app: Server, context: ValueChainsContext): void {
  const { pool, checkCompany } = context;
  app.get(
    '/api/company/:id/value-chains',
    { config: { access: 'company.member' }, schema: companyValueChainsSchema },
    async request => {
      const companyId = pathIdOf(request.params.id);
      await checkCompany(callerOf(request), companyId);
      return ok(await valueChainsPage(context, { companyId }, request.query, languageOf(request.headers)));
    },
  );

  app.get(
    '/api/company/:id/product-types',
    { config: { access: 'company.member' }, schema: companyProductTypesSchema },
    async request => {
      const companyId = pathIdOf(request.params.id);
      await checkCompany(callerOf(request), companyId);
      const ids = await findCompanyProductTypes(pool, companyId);
      const page = pageOf(request.query, CODE_SORTABLE);
      const language = languageOf(request.headers);
      return ok(await codesPage(context, CODE_LISTS.productTypes, ids, page, language));
    },
  );
}
