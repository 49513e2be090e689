import { answered, trace } from './services.ts';
import { session } from './session.svelte.ts';

/** Maximum requests in flight. */
const AT_ONCE = 4;

/** Where a record of a kind is, and its field with the name; the types are those of one of the paths. */
const KINDS: Readonly<Record<string, readonly [path: string, field: 'name' | 'label' | 'title' | 'number']>> =
  {
    company: ['/api/company/profile/{id}', 'name'],
    product: ['/api/product/{id}', 'name'],
    label: ['/api/product/label/{id}', 'title'],
    batch: ['/api/product/label_batch/{id}', 'number'],
    'knowledge-blog': ['/api/product/knowledgeBlog/{id}', 'title'],
    'value-chain': ['/api/chain/value-chain/{id}', 'name'],
    'product-type': ['/api/product-type/{id}', 'name'],
    'semi-product': ['/api/chain/semi-product/{id}', 'name'],
    'facility-type': ['/api/chain/facility-type/{id}', 'label'],
    'measure-unit-type': ['/api/chain/measure-unit-type/{id}', 'label'],
    'processing-evidence-type': ['/api/chain/processing-evidence-type/{id}', 'label'],
    'processing-evidence-field': ['/api/chain/processing-evidence-field/{id}', 'label'],
  };

/** Lists of records that have no address of their own, by the id of what they are of. */
const LISTS: Readonly<Record<string, (within: string) => Promise<{ data: unknown }>>> = {
  'label-document': id =>
    answered(trace.GET('/api/product/label/{id}/documents', { params: { path: { id } } })),
  'final-product': productId =>
    answered(
      trace.GET('/api/product/{productId}/finalProduct/list', {
        params: { path: { productId }, query: { limit: 1000, offset: 0 } },
      }),
    ),
};

/** The loaded names, by user, kind and id: another user may not see them. */
let names = $state.raw<Readonly<Record<string, string>>>({});
const requested = new Set<string>();
const waiting: (() => Promise<void>)[] = [];
let underWay = 0;

/**
 * The name of a record, which is requested once; undefined until it is loaded, and if there is none.
 *
 * @param within the id of what the record is of, for the kinds that are listed there
 */
export function recordName(kind: string, id: string, within = ''): string | undefined {
  if (Object.hasOwn(LISTS, kind)) return listedName(kind, id, within);
  const key = `${session.user?.id} ${kind} ${id}`;
  const found = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (found && /^[1-9]\d{0,9}$/.test(id) && !requested.has(key)) {
    requested.add(key);
    waiting.push(() => ask(key, found, id));
    setTimeout(goOn);
  }
  return names[key];
}

function listedName(kind: string, id: string, within: string): string | undefined {
  const key = `${session.user?.id} ${kind} ${within}`;
  if (/^[1-9]\d{0,9}$/.test(within) && !requested.has(key)) {
    requested.add(key);
    waiting.push(() => askList(key, kind, within));
    setTimeout(goOn);
  }
  return names[`${key} ${id}`];
}

function goOn(): void {
  while (underWay < AT_ONCE) {
    const next = waiting.shift();
    if (!next) return;
    underWay++;
    void next().finally(() => {
      underWay--;
      goOn();
    });
  }
}

async function ask(key: string, [path, field]: (typeof KINDS)[string], id: string): Promise<void> {
  const params = { path: { id } };
  try {
    const { data } = await answered(trace.GET(path as '/api/company/profile/{id}', { params }));
    const name = (data as Record<string, unknown>)[field];
    if (typeof name === 'string' && name !== '') names = { ...names, [key]: name };
  } catch {
    // It is deleted, or not for this user: its number is shown.
  }
}

async function askList(key: string, kind: string, within: string): Promise<void> {
  try {
    const { data } = (await LISTS[kind]?.(within)) ?? {};
    const rows = (Array.isArray(data) ? data : (data as { items?: unknown[] }).items) ?? [];
    const named = (rows as { id: number; name?: string }[]).filter(({ name }) => name);
    names = {
      ...names,
      ...Object.fromEntries(named.map(({ id, name }) => [`${key} ${id}`, name as string])),
    };
  } catch {
    // As in ask.
  }
}
