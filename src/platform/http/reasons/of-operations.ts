import { catalogue, type Reason } from './catalogue.ts';
import operations from './of-operations.json' with { type: 'json' };
import type { Definition } from './reason.ts';

/** Nouns of the reasons that any operation can fail with; docs/errors.md explains them once. */
const GENERAL = new Set([
  ...['body', 'database', 'file_store', 'internal', 'issuer', 'limit', 'request', 'service', 'token'],
  ...['upstream', 'validation'],
]);

/** Whether a reason is one that any operation can fail with; what passes (503) depends on the load and is one, too. */
export function isGeneral(reason: string): boolean {
  const known = catalogue[reason as Reason] as Definition | undefined;
  return known?.code === 'unavailable' || GENERAL.has(reason.split('.')[0] as string);
}

/** The reasons that an operation can fail with, besides the general ones. */
export function reasonsOf(operationId: string | undefined): readonly string[] {
  return (operations as Record<string, string[]>)[operationId ?? ''] ?? [];
}
