import { type Operation, operationsOf } from '../helpers/definition.ts';
import type { Send } from '../helpers/service.ts';
import { type ErrorShape, faultOf } from './check.ts';
import { knowledge } from './known.ts';
import { type Random, randomOf } from './random.ts';
import { makeRequest } from './requests.ts';
import type { Known } from './texts.ts';
import { exchange, type WireAnswer, type WireRequest } from './wire.ts';

/** The findings of a run. */
export interface Findings {
  /** requests sent */
  sent: number;
  /** answers by status */
  statuses: Record<string, number>;
  /** operations, as "GET /health", of which at least one request succeeded */
  succeeded: Set<string>;
  operations: string[];
  /** a line for each answer that is not as it should be */
  faults: string[];
}

/** The sender of a request: its headers. */
export interface Sender {
  headers: [name: string, value: string][];
  /** called when an operation that is not open to everyone is answered 401 */
  unauthenticated?: () => Promise<void>;
}

export interface Target {
  url: string;
  send: Send;
  /** path of the definition */
  definition: string;
  isError: ErrorShape;
  /** texts of what exists before the first request */
  known: Known;
  sender: (random: Random) => Sender;
}

/** The amount to send: a number of requests, but none after a time in milliseconds. */
export interface Bounds {
  count: number;
  ms: number;
}

/** Maximum faults that are kept. */
const MOST_FAULTS = 100;

/** Sends the requests of a seed to a service, one after the other, each operation in turn. */
export async function fuzz(target: Target, seed: number, { count, ms }: Bounds): Promise<Findings> {
  const random = randomOf(seed);
  const operations = await operationsOf(target.send, target.definition);
  const known = knowledge(target.known);
  const findings: Findings = {
    sent: 0,
    statuses: {},
    succeeded: new Set(),
    operations: operations.map(nameOf),
    faults: [],
  };
  const deadline = Date.now() + ms;
  while (findings.sent < count && Date.now() < deadline && findings.faults.length < MOST_FAULTS) {
    const operation = operations[findings.sent++ % operations.length] as Operation;
    const sender = target.sender(random);
    const made = makeRequest(random, operation, known.of(operation));
    const request = { ...made, headers: [...made.headers, ...sender.headers] };
    try {
      const answer = await exchange(target.url, request);
      const fault = judge(findings, operation, request, answer, target.isError);
      if (fault) findings.faults.push(`${answer.status} ${shown(made)}\n  ${fault}`);
      else known.learn(operation, answer);
      if (answer.status === 401 && !operation.open) await sender.unauthenticated?.();
    } catch (error) {
      findings.faults.push(`${shown(made)}\n  ${(error as Error).message}`);
    }
  }
  return findings;
}

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;

function judge(
  findings: Findings,
  operation: Operation,
  { method }: WireRequest,
  answer: WireAnswer,
  isError: ErrorShape,
): string | undefined {
  findings.statuses[answer.status] = (findings.statuses[answer.status] ?? 0) + 1;
  if (method === operation.method && answer.status < 300) findings.succeeded.add(nameOf(operation));
  const responses = method === operation.method ? operation.responses : {};
  return faultOf({ method, responses }, answer, isError);
}

function shown({ method, path, headers, body }: WireRequest): string {
  const text = body === undefined ? '' : `${body.length} bytes: ${body.toString('latin1', 0, 1000)}`;
  return `${method} ${path.slice(0, 500)} ${JSON.stringify(headers).slice(0, 700)} ${text}`;
}

/** The parameters and findings of a run, as lines. */
export function report(name: string, seed: number, findings: Findings): string {
  const { sent, statuses, succeeded, operations, faults } = findings;
  const never = operations.filter(operation => !succeeded.has(operation));
  return [
    `${name}: seed ${seed}, ${sent} requests to ${operations.length} operations, ${faults.length} faults`,
    `answers: ${Object.entries(statuses)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', ')}`,
    `never succeeded: ${never.join(', ') || 'none'}`,
    ...faults.slice(0, 20),
  ].join('\n');
}
