import { operationsOf } from '../helpers/definition.ts';
import type { RunningService } from '../helpers/service.ts';
import type { RunningTrace } from '../helpers/trace.ts';
import { type ErrorShape, faultOf, packetError, traceError } from './check.ts';
import { type Random, randomOf } from './random.ts';
import { exchange, type FuzzRequest, makeRequest } from './requests.ts';
import type { Known } from './values.ts';

/** What a run found. */
export interface Findings {
  /** requests by the hundreds of their status */
  statuses: Record<string, number>;
  /** operations of which at least one request succeeded */
  succeeded: Set<string>;
  /** operations in all */
  operations: number;
  /** a line for each answer that is not as it should be */
  faults: string[];
}

interface Target {
  url: string;
  send: RunningService['send'];
  definition: string;
  isError: ErrorShape;
  known: Known;
  /** who asks: a cookie, where one is needed; asked for again when it was ended by a request */
  cookie?: () => Promise<string>;
  isLoggedIn?: (cookie: string | undefined) => Promise<boolean>;
}

/** Sends so many requests of a seed to a service, one after the other, each operation in turn. */
async function fuzz(target: Target, random: Random, count: number): Promise<Findings> {
  const operations = await operationsOf(target.send, target.definition);
  const findings: Findings = {
    statuses: {},
    succeeded: new Set(),
    operations: operations.length,
    faults: [],
  };
  let cookie = await target.cookie?.();
  for (let at = 0; at < count; at++) {
    const operation = operations[at % operations.length] as (typeof operations)[number];
    const request = makeRequest(random, operation, target.known);
    try {
      const answer = await exchange(target.url, request, cookie);
      const hundreds = `${Math.floor(answer.status / 100)}xx`;
      findings.statuses[hundreds] = (findings.statuses[hundreds] ?? 0) + 1;
      if (answer.status < 300) findings.succeeded.add(`${operation.method} ${operation.path}`);
      const fault = faultOf(request, answer, target.isError);
      if (fault) findings.faults.push(`${answer.status} ${shown(request)}: ${fault}`);
      const ended = answer.status === 401 && !operation.open;
      if (ended && target.cookie && !(await target.isLoggedIn?.(cookie))) {
        cookie = await target.cookie();
      }
    } catch (error) {
      findings.faults.push(`no answer ${shown(request)}: ${(error as Error).message}`);
    }
  }
  return findings;
}

function shown({ operation, path, headers, body }: FuzzRequest): string {
  const text = body?.toString('utf8') ?? '';
  return `${operation.method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)} ${text.slice(0, 500)}`;
}

export function fuzzPacketService(
  service: RunningService,
  known: Known,
  seed: number,
  count: number,
): Promise<Findings> {
  const target = {
    url: service.url,
    send: service.send,
    definition: '/openapi.json',
    isError: packetError,
    known,
  };
  return fuzz(target, randomOf(seed), count);
}

export function fuzzTraceBackend(
  trace: RunningTrace,
  known: Known,
  seed: number,
  count: number,
): Promise<Findings> {
  const cookie = async () => (await trace.loggedIn('SYSTEM_ADMIN')).cookie;
  const target = {
    url: trace.url,
    send: trace.send,
    definition: '/v3/api-docs',
    isError: traceError,
    known,
    cookie,
  };
  return fuzz(target, randomOf(seed), count);
}
