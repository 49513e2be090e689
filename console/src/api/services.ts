import createClient from 'openapi-fetch';
import { Failure, failureOf } from './failure.ts';
import type { paths as PacketPaths } from './generated/packet-service.d.ts';
import type { paths as TracePaths } from './generated/trace-backend.d.ts';
import { quietFetch, sessionFetch } from './session-fetch.ts';

/** The packet service, typed by its definition. */
export const packet = createClient<PacketPaths>({ baseUrl: '/packet', fetch: sessionFetch });

/** The packet service, for background requests: it never asks the user to log in. */
export const quietPacket = createClient<PacketPaths>({ baseUrl: '/packet', fetch: quietFetch });

/** The trace backend, typed by its definition. */
export const trace = createClient<TracePaths>({ baseUrl: '/trace', fetch: sessionFetch });

/**
 * The body of a call's answer: `await answered(packet.GET('/packets'))`.
 *
 * @throws Failure
 */
export async function answered<Data>(
  call: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await call.catch(offline);
  if (response.ok) return data as Data;
  throw failureOf(error, response);
}

/**
 * The `data` in the envelope of the trace backend: `await enveloped(trace.GET('/api/user/profile'))`.
 *
 * @throws Failure
 */
export async function enveloped<Data>(
  call: Promise<{ data?: { data: Data }; error?: unknown; response: Response }>,
): Promise<Data> {
  return (await answered(call)).data;
}

/** Without an answer, fetch throws a TypeError with a text that differs between browsers. */
function offline(cause: unknown): never {
  if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
  throw new Failure('offline', 0);
}
