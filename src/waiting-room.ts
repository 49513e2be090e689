import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { OF_REFUSALS } from './platform/http/pipeline/security-headers.ts';
import type { Problem } from './platform/http/problems.ts';
import { REASON_HEADER, reasonHeader } from './platform/http/reasons/header.ts';
import { JSON_TYPE } from './platform/http/server.ts';
import type { Settings } from './platform/settings/settings.ts';
import { VERSION } from './platform/version.ts';
import { PORTS, SERVICE_NAMES, type ServiceName, servicesOf, unusablePort } from './ports.ts';
import { failure } from './trace-backend/base/contract/envelope.ts';

/** Seconds after which clients can try again. */
const RETRY_AFTER = 5;

/** The system that a start waits for. */
export interface Absence {
  /** what health says */
  status: 'DATABASE_UNREACHABLE' | 'FILES_UNREACHABLE';
  /** what other requests get */
  problem: Problem;
}

/**
 * Answers 503 at the ports of the services until they can start. Ports that a start chooses itself are left out.
 *
 * @param absence what is waited for at the moment
 * @returns a function that stops answering, so that the services can listen
 * @throws SettingsError with the setting of a port that cannot be used
 */
export async function openWaitingRoom(
  settings: Settings,
  absence: () => Absence,
): Promise<() => Promise<void>> {
  const servers: Server[] = [];
  for (const name of servicesOf(settings.SERVICES)) {
    const port = settings[PORTS[name]];
    if (port === 0) continue;
    const server = createServer((request, response) => {
      const path = request.url?.split('?')[0] ?? '';
      const { code, body, reasons } = answerTo(path, name, absence());
      if (code === 503) response.setHeader('retry-after', RETRY_AFTER);
      if (reasons !== undefined) response.setHeader(REASON_HEADER, reasons);
      const headers = { 'content-type': JSON_TYPE, 'cache-control': 'no-store', connection: 'close' };
      response.writeHead(code, { ...OF_REFUSALS, ...headers });
      response.end(JSON.stringify(body));
    });
    try {
      await once(server.listen({ host: settings.HOST, port }), 'listening');
    } catch (error) {
      throw unusablePort(PORTS[name], { host: settings.HOST, port }, error);
    }
    servers.push(server);
  }
  return async () => {
    await Promise.all(
      servers.map(server => {
        const closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
        return closed;
      }),
    );
  };
}

function answerTo(
  path: string,
  name: ServiceName,
  { status, problem }: Absence,
): { code: 200 | 503; body: object; reasons?: string | undefined } {
  const about = { service: SERVICE_NAMES[name], version: VERSION };
  if (path === '/health/live') return { code: 200, body: { status: 'OK', ...about } };
  if (path === '/health') return { code: 503, body: { status, ...about } };
  if (path === '/health/ready') return { code: 503, body: { status, ...about, details: [] } };
  const body = name === 'trace' ? failure(problem) : { error: problem.message };
  return { code: 503, body, reasons: reasonHeader(problem.faults) };
}
