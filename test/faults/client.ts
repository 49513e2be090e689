import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from '../helpers/service.ts';
import { pick } from './random.ts';

/** Rest before a request is sent again, in milliseconds. */
const AGAIN_MS = 250;
/** A request without an answer for so long is an error of its own, in milliseconds. */
const ANSWER_MS = 30_000;
/** How often what was begun is tried after the end of the load. */
const LAST_TRIES = 120;

/** A request to one of the endpoints that write. */
export interface Request {
  /** method and path as in the definition of the service, such as PATCH /chat/threads/{thread_id} */
  endpoint: string;
  /** values of the parameters in the path */
  at?: Record<string, string>;
  /** JSON; a text goes as it is */
  body?: unknown;
  headers?: Record<string, string>;
  /** the Idempotency-Key */
  key?: string;
  /** the same request must not be sent again after an unknown outcome: it has no key and would do it twice */
  once?: true;
  /** statuses which say, after an unknown outcome, that it was done before: what is deleted is not there any more */
  done?: readonly number[];
  /** statuses with which the story ends without a fault */
  void?: readonly number[];
}

/** The counted outcomes of clients. */
export interface Seen {
  /** requests that were sent */
  sent: number;
  /** writes that were acknowledged */
  acknowledged: number;
  /** answers of 503, and batches of which an item was */
  refused: number;
  /** connections that broke before an answer */
  broken: number;
  /** anything else, in words: there must be none */
  unexpected: string[];
}

/** The outcome of a request that must not be repeated is unknown: its story ends here. */
export class Unknown extends Error {}

export interface Client {
  /**
   * Sends a request to whichever process is there, and again until it is acknowledged.
   *
   * @param whole whether an answer acknowledges everything that was sent
   * @throws Unknown
   */
  send(request: Request, whole?: (answer: Answer) => boolean): Promise<Answer>;
  /** Reads from whichever process is there until one answers with 200. */
  read(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** what was seen since this was asked last */
  take(): Seen;
  /** by endpoint, how many writes were acknowledged */
  readonly endpoints: ReadonlyMap<string, number>;
  /** Stops unlimited retries. */
  end(): void;
  isEnding(): boolean;
}

/** Addresses of the processes that run, of one service. */
export type Targets = (service: 'packet' | 'trace') => string[];

const nothing = (): Seen => ({ sent: 0, acknowledged: 0, refused: 0, broken: 0, unexpected: [] });

export function openClient(targets: Targets, random: () => number): Client {
  const endpoints = new Map<string, number>();
  let seen = nothing();
  let over = false;

  /** Gives what comes back, or undefined when nothing did. */
  async function attempt(request: Request): Promise<Answer | undefined> {
    const target = pick(targets(serviceOf(request)), random);
    if (target === undefined) return undefined;
    seen.sent++;
    try {
      return await sendTo(target, request);
    } catch (error) {
      const timedOut = (error as Error).name === 'TimeoutError';
      if (timedOut) seen.unexpected.push(`${request.endpoint}: no answer in ${ANSWER_MS / 1000} s`);
      else seen.broken++;
      if (request.once) throw new Unknown();
      return undefined;
    }
  }

  /** Whether an answer acknowledges; anything that is neither that nor a refusal for now ends the story. */
  function judge(request: Request, answer: Answer, tries: number): boolean {
    const { endpoint, once, done = [], void: ends = [] } = request;
    if (answer.status < 300 || (tries > 0 && done.includes(answer.status))) return true;
    if (answer.status === 503) {
      seen.refused++;
      if (!answer.headers.get('retry-after')) seen.unexpected.push(`${endpoint}: 503 without Retry-After`);
      if (once) throw new Unknown();
      return false;
    }
    if (!ends.includes(answer.status))
      seen.unexpected.push(`${endpoint}: ${answer.status} ${answer.text.slice(0, 200)}`);
    throw new Unknown();
  }

  async function untilAcknowledged(request: Request, whole: (answer: Answer) => boolean): Promise<Answer> {
    for (let [tries, last] = [0, 0]; last < LAST_TRIES; tries++, last += over ? 1 : 0) {
      const answer = await attempt(request);
      if (answer && judge(request, answer, tries)) {
        if (whole(answer)) return answer;
        seen.refused++;
      }
      await wait(AGAIN_MS);
    }
    seen.unexpected.push(`${request.endpoint} was never acknowledged`);
    throw new Unknown();
  }

  return {
    async send(request, whole = () => true) {
      const answer = await untilAcknowledged(request, whole);
      seen.acknowledged++;
      endpoints.set(request.endpoint, (endpoints.get(request.endpoint) ?? 0) + 1);
      return answer;
    },
    read: (path, headers = {}) => untilAcknowledged({ endpoint: `GET ${path}`, headers }, () => true),
    take() {
      const taken = seen;
      seen = nothing();
      return taken;
    },
    endpoints,
    end() {
      over = true;
    },
    isEnding: () => over,
  };
}

function serviceOf({ endpoint }: Request): 'packet' | 'trace' {
  return / \/api\//.test(endpoint) ? 'trace' : 'packet';
}

async function sendTo(url: string, { endpoint, at = {}, body, headers, key }: Request): Promise<Answer> {
  const [method, pattern] = endpoint.split(' ') as [string, string];
  const path = pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(at[name] as string));
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url + path, {
    method,
    ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
    headers: {
      ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** Adds what was seen in one part of a run to the whole. */
export function add(total: Seen, part: Seen): Seen {
  return {
    sent: total.sent + part.sent,
    acknowledged: total.acknowledged + part.acknowledged,
    refused: total.refused + part.refused,
    broken: total.broken + part.broken,
    unexpected: [...total.unexpected, ...part.unexpected],
  };
}
