import { answered, enveloped, trace } from '../../api/services.ts';
import { language } from '../../messages/messages.svelte.ts';
import type { VersionHeader } from '../../parts/forms/edited-record.svelte.ts';
import type { Range } from '../../parts/lists/offset-pages.ts';
import { nameOfCode } from '../../parts/name-of-code.ts';
import { type CodeList, findList } from './lists.ts';

/** A code of any list. */
export type Code = { id: number } & Record<string, unknown>;

/** Codes that one request brings. */
const LIMIT = 1000;

// The lists have the same operations at their own paths; the types are those of one of them.
const listPath = ({ list }: CodeList) => list as '/api/chain/semi-product/list';
const onePath = ({ path }: CodeList) => `${path}/{id}` as '/api/chain/semi-product/{id}';
const typePath = '/api/product-type';

/** A page of a list, in the language of the console. */
export async function loadCodes(
  list: CodeList,
  range: Range,
  signal?: AbortSignal,
): Promise<{ items?: Code[] }> {
  const header = { language: language().toUpperCase() };
  const params = { query: { ...range, sortBy: list.title, sort: 'ASC' as const }, header };
  return (await enveloped(trace.GET(listPath(list), { params, ...(signal && { signal }) }))) as {
    items?: Code[];
  };
}

/** A code that can be chosen. */
export interface Choice {
  id: number;
  title: string;
  isDisabled: boolean;
}

/** All codes of a list, which has a bounded number of them. */
export async function loadAll(name: string, signal?: AbortSignal): Promise<Choice[]> {
  const list = findList(name) as CodeList;
  const all: Code[] = [];
  for (;;) {
    const range = { limit: LIMIT, offset: all.length, requestType: 'FETCH' as const };
    const { items = [] } = await loadCodes(list, range, signal);
    all.push(...items);
    if (items.length < LIMIT) return all.map(code => choiceOf(list, code));
  }
}

function choiceOf(list: CodeList, code: Code): Choice {
  const isDisabled = code.disabled === true;
  return { id: code.id, title: nameOfCode(titleOf(list, code), isDisabled), isDisabled };
}

/** The codes that a record is offered: those that are not disabled, and those that it has. */
export function offered(codes: readonly Choice[], has: readonly number[]): Choice[] {
  return codes.filter(({ id, isDisabled }) => !isDisabled || has.includes(id));
}

/** A code with its English texts, and its version. */
export async function loadCode(list: CodeList, id: string, signal?: AbortSignal) {
  const call = trace.GET(onePath(list), { params: { path: { id } }, ...(signal && { signal }) });
  const { data } = await answered(call);
  return { code: data as Code, version: (await call).response.headers.get('etag') ?? '' };
}

/** A value chain with its codes, and its version. */
export async function loadValueChain(id: string, signal?: AbortSignal) {
  const params = { path: { id } };
  const call = trace.GET('/api/chain/value-chain/{id}', { params, ...(signal && { signal }) });
  const { data: chain } = await answered(call);
  return { chain, version: (await call).response.headers.get('etag') ?? '' };
}

/** Stores a new code, or changes one in a version. */
export async function saveCode(
  list: CodeList,
  id: string | undefined,
  body: object,
  header: VersionHeader = {},
): Promise<void> {
  const sent = {
    params: { header },
    body: { ...body, ...(id !== undefined && { id: Number(id) }) } as never,
  };
  if (list.path !== typePath) await answered(trace.PUT(list.path as '/api/chain/semi-product', sent));
  else await answered(id === undefined ? trace.POST(typePath, sent) : trace.PUT(typePath, sent));
}

export async function removeCode(list: CodeList, id: string): Promise<void> {
  await answered(trace.DELETE(onePath(list), { params: { path: { id } } }));
}

/** The text by which users know a code. */
export function titleOf({ title, key }: CodeList, code: Record<string, unknown>): string {
  return String(code[title] ?? (key && code[key]) ?? code.id);
}
