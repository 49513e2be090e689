import { randomUUID } from 'node:crypto';
import type { LoggedIn } from './trace.ts';

/** The statuses of callers of each kind, from one status for those who may call. */
type Statuses<Kinds> = (status?: number) => Kinds;

/** Rows of the authorisation table for code lists and value chains: a good request to each route. */
export function codeRows<Kinds extends object>(
  login: () => Promise<LoggedIn>,
  {
    everyone,
    administrators,
    systemAdmin,
  }: {
    everyone: (status: number) => Kinds;
    administrators: Statuses<Kinds>;
    systemAdmin: Statuses<Kinds>;
  },
): Record<string, Kinds & { path?: () => Promise<string> | string; body?: () => unknown }> {
  const types = '/api/product-type';
  const chains = '/api/chain/value-chain';
  const keyOf = (path: string) => (path.endsWith('field') ? 'fieldName' : 'code');
  const adding = (path: string) => (path === types ? 'POST' : 'PUT');
  const added = async (path: string): Promise<string> => {
    const sent = { [keyOf(path)]: randomUUID(), label: 'x', name: 'x' };
    const { body, text } = await (await login()).send(adding(path), path, sent);
    if (!body.data) throw new Error(text);
    return String(body.data.id);
  };
  const at = (path: string, rest = '') => ({ path: async () => `${path}/${await added(path)}${rest}` });
  const lists = ['facility-type', 'measure-unit-type', 'semi-product', 'value-chain'].map(
    name => `/api/chain/${name}`,
  );
  const evidence = ['type', 'field'].map(name => `/api/chain/processing-evidence-${name}`);
  const rows = [...lists, ...evidence, types].flatMap(path => [
    [`GET ${path === types ? path : `${path}/list`}`, everyone(200)],
    [`GET ${path}/{id}`, { ...at(path), ...everyone(200) }],
    [`DELETE ${path}/{id}`, { ...at(path), ...systemAdmin() }],
    [
      `${adding(path)} ${path}`,
      { body: () => ({ [keyOf(path)]: randomUUID(), label: 'x', name: 'x' }), ...administrators() },
    ],
  ]);
  const used = [...evidence, '/api/chain/semi-product'].map(path => [
    `GET ${path}/list/by-value-chains`,
    { path: () => `${path}/list/by-value-chains?valueChainIds=1`, ...everyone(200) },
  ]);
  const usedByOne = evidence.map(path => [
    `GET ${path}/list/value-chain/{id}`,
    { path: async () => `${path}/list/value-chain/${await added(chains)}`, ...everyone(200) },
  ]);
  return {
    ...Object.fromEntries([...rows, ...used, ...usedByOne]),
    [`PUT ${types}`]: {
      body: async () => ({ id: await added(types), name: 'y' }),
      ...systemAdmin(),
    },
    'GET /api/chain/semi-product/{id}/detail': {
      ...at('/api/chain/semi-product', '/detail'),
      ...everyone(200),
    },
    [`POST ${chains}/{id}/enable`]: { ...at(chains, '/enable'), ...systemAdmin() },
    [`POST ${chains}/{id}/disable`]: { ...at(chains, '/disable'), ...systemAdmin() },
  };
}

type Path<World> = (world: World) => string | Promise<string>;

/** Rows for settings of the front end, and for what everyone may read or report. */
export function publicRows<Kinds extends object, World>(
  {
    everyone,
    open,
    systemAdmin,
  }: { everyone: (status: number) => Kinds; open: (status: number) => Kinds; systemAdmin: Statuses<Kinds> },
  uploaded: (kind: 'image' | 'document', rest?: string) => { path?: Path<World> },
): Record<string, Kinds & { path?: Path<World>; body?: () => unknown }> {
  const setting = (template: string) => ({ path: () => `/api/${template}/globalSettings/UNKNOWN` });
  // Nothing published shows what was just uploaded.
  const hidden = ['GET', 'HEAD'].flatMap(method =>
    ['image/{storageKey}', 'image/{storageKey}/{size}', 'document/{storageKey}'].map(template => {
      const { path } = uploaded(
        template.startsWith('image') ? 'image' : 'document',
        template.endsWith('{size}') ? '/SMALL' : '',
      );
      const made = async (world: World) => String(await path?.(world)).replace('/common/', '/public/');
      return [`${method} /api/public/${template}`, { path: made, ...open(404) }] as const;
    }),
  );
  return {
    'GET /api/common/globalSettings/{name}': { ...setting('common'), ...everyone(200) },
    'POST /api/common/globalSettings/{name}': {
      ...setting('common'),
      body: () => ({ value: 'x' }),
      ...systemAdmin(),
    },
    'GET /api/public/globalSettings/{name}': { ...setting('public'), ...open(200) },
    ...Object.fromEntries(hidden),
    'POST /api/public/logRequest': { body: () => ({ type: 'LANDING_PAGE' }), ...open(200) },
  };
}
