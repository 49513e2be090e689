import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseList } from 'structured-headers';
import { isGeneral, reasonsOf } from '../../src/platform/http/reasons/of-operations.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

interface Known {
  id: string;
  method: string;
  pattern: RegExp;
}
let known: Known[] | undefined;

/** The operations of both definitions. */
function operations(): Known[] {
  return ['packet-service', 'trace-backend'].flatMap(name => {
    const { paths } = JSON.parse(readFileSync(path.join(ROOT, `openapi/${name}.json`), 'utf8'));
    return Object.entries<Record<string, { operationId: string }>>(paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      })),
    );
  });
}

/**
 * Holds an answer to the definition: the reasons of its header are among those that `x-reasons` lists for the operation.
 * With RECORD_REASONS the ones that are missing are added to that file, which `npm run reasons` merges into the list.
 *
 * @param target path and query of the request
 * @throws Error that names the operation and the reason
 */
export function checkReasons(method: string, target: string, header: string | null): void {
  if (header === null) return;
  const reasons = parseList(header).map(([reason]) => String(reason));
  const special = reasons.filter(reason => !isGeneral(reason));
  if (special.length === 0) return;
  known ??= operations();
  const [at = ''] = target.split('?');
  const fitting = known.filter(operation => operation.method === method && operation.pattern.test(at));
  // A literal path is another operation than one whose parameter it fits.
  const operation = fitting.find(({ pattern }) => !pattern.source.includes('[^/]+')) ?? fitting[0];
  if (!operation) return;
  const missing = special.filter(reason => !reasonsOf(operation.id).includes(reason));
  if (missing.length === 0) return;
  const file = process.env.RECORD_REASONS;
  if (file === undefined)
    throw new Error(
      `the definition of ${operation.id} lacks the reason ${missing.join(', ')}: run this test with RECORD_REASONS=seen.txt, then npm run reasons seen.txt`,
    );
  appendFileSync(file, missing.map(reason => `${operation.id} ${reason}\n`).join(''));
}
