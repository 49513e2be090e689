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

/** A record that does not exist or that the user may not see, and the list of its kind. */
export interface MissingRecord {
  kind: keyof typeof RECORDS;
  list: string;
  href: string;
}

/**
 * The record that a page cannot show because it does not exist or the user may not see it; undefined for other failures.
 * On further pages of a record, such as its history, a refusal concerns only that page.
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

/** Whether a retry cannot help: the record does not exist, or the user may not read it. */
export function isFinal(failure: unknown): boolean {
  return failure instanceof Failure && [403, 404].includes(failure.status);
}
