import { Failure } from '../../api/failure.ts';

/** The pages of records, by the first part of their addresses: the message that names the list, and its address. */
const RECORDS = {
  companies: { list: 'companies.title', href: '/companies' },
  products: { list: 'products.title', href: '/products' },
  labels: { list: 'products.title', href: '/products' },
  packets: { list: 'packets.title', href: '/packets' },
  threads: { list: 'threads.title', href: '/threads' },
  'value-chains': { list: 'codes.valueChains', href: '/value-chains' },
  'code-lists': { list: 'codes.title', href: '/code-lists' },
} as const;

/** A record that there is not, or that the user may not see, and where others are. */
export interface MissingRecord {
  kind: keyof typeof RECORDS;
  list: string;
  href: string;
}

/**
 * What a failure says of the record of a page: that there is none, or that the user may not see it; undefined if it says
 * something else. On its other pages, such as those of its history, a refusal is of what only they show.
 *
 * @param path of the page
 */
export function missingRecord(path: string, failure: unknown): MissingRecord | undefined {
  if (!(failure instanceof Failure)) return undefined;
  const [, first = '', ...rest] = path.replace(/\/+$/, '').split('/');
  if (!Object.hasOwn(RECORDS, first)) return undefined;
  const kind = first as keyof typeof RECORDS;
  const depth = rest.length - (kind === 'code-lists' ? 2 : 1);
  if (depth < 0) return undefined;
  const isMissing = failure.status === 404 || (depth === 0 && [400, 403].includes(failure.status));
  return isMissing ? { kind, ...RECORDS[kind] } : undefined;
}

/** Whether a failure stays the same however often it is tried: nobody may read it, or there is nothing. */
export function isFinal(failure: unknown): boolean {
  return failure instanceof Failure && [403, 404].includes(failure.status);
}
