import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../http/problems.ts';
import { type Fault, fault, textOf } from '../http/reasons/catalogue.ts';
import { processSlots } from '../limits/slots.ts';
import type { BreakerWatch } from './breaker-watch.ts';
import { circuitBreaker } from './circuit-breaker.ts';

/** The limits of a client. */
export interface OutboundLimits {
  /** The system's name in error messages, such as "the asset registry". */
  name: string;
  /** For one attempt, from the connection to the last byte of the answer. */
  timeoutMs: number;
  /** Attempts after the first. */
  retries: number;
  /** Bytes of an answer. */
  maxBytes: number;
  /** Requests in flight; further ones wait. */
  concurrency: number;
  /** Requests that may wait; further ones fail at once. */
  queue: number;
  /** Consecutive failed requests after which the system is considered down. */
  failures: number;
  /** How long a system that is down gets no requests before a trial. */
  restMs: number;
  /** Called when the system is considered down, and when it answers again. */
  watch?: BreakerWatch | undefined;
}

export interface OutboundRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

export interface OutboundAnswer {
  status: number;
  /** The parsed JSON. Nothing is known of its shape. */
  body: unknown;
}

export type Outbound = (request: OutboundRequest) => Promise<OutboundAnswer>;

const DEFAULTS: OutboundLimits = {
  name: 'the other system',
  timeoutMs: 3_000,
  retries: 2,
  maxBytes: 1024 * 1024,
  concurrency: 32,
  queue: 2_000,
  failures: 5,
  restMs: 10_000,
};

/** Milliseconds: the wait before a second attempt is random below this, before each later one below the double. */
const FIRST_PAUSE = 100;
/** Longest Retry-After, in seconds, for which a request waits. */
const MAX_PAUSE = 2;

/**
 * A client for one external system with JSON over HTTP. The limits bound what it can cost a caller: attempts have a
 * timeout, are retried after a random pause, and read a bounded answer; after several consecutive failures, requests
 * fail at once for a while.
 *
 * Requests must be idempotent. 5xx and 429, answers that are not JSON, and redirects (which could send our token
 * elsewhere) count as failures; the caller handles all other answers.
 *
 * @returns a function that throws Problem unavailable, with retryAfter, when the system gives no answer
 */
export function outbound(limits: Partial<OutboundLimits>): Outbound {
  const settings = { ...DEFAULTS, ...limits };
  const slots = processSlots({
    total: settings.concurrency,
    mostWaiting: settings.queue,
    full: () => new Problem('upstream.busy', { system: settings.name }, { retryAfter: 1 }),
  });
  const guarded = guard(settings);
  return request => slots.run(() => guarded(() => attempts(request, settings)));
}

/** A failed attempt, and the seconds of Retry-After. */
class Failure extends Error {
  readonly fault: Fault;
  readonly pause: number | undefined;
  constructor(why: Fault, pause?: number, cause?: unknown) {
    super(textOf(why), { cause });
    this.fault = why;
    this.pause = pause;
  }
}

async function attempts(request: OutboundRequest, limits: OutboundLimits): Promise<OutboundAnswer> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send(request, limits);
    } catch (error) {
      const pause = (error as Failure).pause ?? 0;
      if (attempt === limits.retries || pause > MAX_PAUSE) throw error;
      // Full jitter: callers that failed together come back at different times.
      await sleep(pause * 1000 + Math.random() * FIRST_PAUSE * 2 ** attempt);
    }
  }
}

async function send(
  { method, url, headers, body }: OutboundRequest,
  { name: system, timeoutMs, maxBytes }: OutboundLimits,
): Promise<OutboundAnswer> {
  const hasBody = body !== undefined;
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(hasBody && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(hasBody && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return await readAnswer(response, system, maxBytes);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { name, cause } = error as Error;
    const code = (cause as { code?: string } | undefined)?.code ?? name;
    const why =
      name === 'TimeoutError'
        ? fault('upstream.slow', { system })
        : fault('upstream.unreachable', { system, error: code });
    throw new Failure(why, undefined, error);
  }
}

async function readAnswer(response: Response, system: string, maxBytes: number): Promise<OutboundAnswer> {
  const { status } = response;
  if (status >= 500 || status === 429 || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    const pause = readPause(response.headers.get('retry-after'));
    throw new Failure(fault('upstream.failed', { system, status }), pause);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body and with it the connection.
    if (size > maxBytes) throw new Failure(fault('upstream.answer_too_large', { system, max: maxBytes }));
    chunks.push(chunk);
  }
  try {
    return { status, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    throw new Failure(fault('upstream.not_json', { system, status }));
  }
}

/** Retry-After in seconds; a date is ignored. */
function readPause(header: string | null): number | undefined {
  return header !== null && /^[0-9]{1,6}$/.test(header) ? Number(header) : undefined;
}

/** Lets no task begin while the breaker is open; failures of tasks open it. */
function guard({ name, failures, restMs, watch }: OutboundLimits) {
  const breaker = circuitBreaker({ failures, restMs });
  let isDown = false;
  return async <Result>(task: () => Promise<Result>): Promise<Result> => {
    const seconds = breaker.secondsLeft();
    if (seconds > 0) throw down(name, seconds);
    breaker.beginTrial();
    try {
      const result = await task();
      breaker.succeeded();
      if (isDown) watch?.closed(name);
      isDown = false;
      return result;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      breaker.failed();
      if (!isDown && breaker.isTried()) {
        isDown = true;
        watch?.opened(name, error.message);
      }
      throw down(name, Math.max(error.pause ?? 0, breaker.secondsLeft(), 1), error);
    }
  };
}

function down(name: string, seconds: number, cause?: Failure): Problem {
  const why = cause?.fault ?? fault('upstream.down', { system: name });
  return new Problem([why], { retryAfter: Math.ceil(seconds), cause });
}
