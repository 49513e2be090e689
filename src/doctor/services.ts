import { connect } from 'node:net';
import { isConsoleBuilt } from '../console/pages.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { VERSION } from '../platform/version.ts';
import { error, type Finding, inTime, ok, warning } from './finding.ts';

/** Maximum time for a service to respond, in milliseconds. */
const PATIENCE_MS = 5000;

/** The response of a service at its port. */
export interface ServiceLook {
  service: 'packet-service' | 'trace-backend' | 'console';
  setting: 'PACKET_PORT' | 'TRACE_PORT' | 'CONSOLE_PORT';
  /** undefined if the setting is 0, so that the port is not known */
  url: string | undefined;
  /** free: nothing listens; silent: no answer in time; foreign: not this service */
  port: 'unknown' | 'free' | 'silent' | 'foreign' | 'ours';
  health?: Readiness;
  /** of /metrics; absent if it cannot be read */
  metrics?: Samples;
}

interface Readiness {
  status: string;
  version: string;
  details: { name: string; status: string; message?: string }[];
}

/** Values of metrics by name, summed over their labels. */
export type Samples = ReadonlyMap<string, number>;

/** Asks the services of the settings for their health and metrics. */
export function lookAtServices(settings: Settings): Promise<ServiceLook[]> {
  const { SERVICES, PACKET_PORT, TRACE_PORT, CONSOLE_PORT } = settings;
  return Promise.all([
    ...(SERVICES.includes('packet') ? [look(settings, 'packet-service', 'PACKET_PORT', PACKET_PORT)] : []),
    ...(SERVICES.includes('trace') ? [look(settings, 'trace-backend', 'TRACE_PORT', TRACE_PORT)] : []),
    ...(SERVICES.includes('console') ? [look(settings, 'console', 'CONSOLE_PORT', CONSOLE_PORT)] : []),
  ]);
}

async function look(
  { HOST, METRICS_TOKEN }: Settings,
  service: ServiceLook['service'],
  setting: ServiceLook['setting'],
  port: number,
): Promise<ServiceLook> {
  if (port === 0) return { service, setting, url: undefined, port: 'unknown' };
  const host = HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '::1' : HOST;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const look = { service, setting, url };
  if (!(await accepts(host, port))) return { ...look, port: 'free' };
  // The console has no state that could be unready, and no metrics.
  const answer = await request(`${url}/health/${service === 'console' ? 'live' : 'ready'}`);
  if (answer === undefined) return { ...look, port: 'silent' };
  const health = readHealth(answer.text, service);
  if (!health) return { ...look, port: 'foreign' };
  const metrics = service === 'console' ? undefined : await request(`${url}/metrics`, METRICS_TOKEN);
  return {
    ...look,
    port: 'ours',
    health,
    ...(metrics?.status === 200 && { metrics: readSamples(metrics.text) }),
  };
}

function accepts(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: PATIENCE_MS });
  socket.once('connect', () => resolve(true));
  for (const event of ['error', 'timeout']) socket.once(event, () => resolve(false));
  return promise.finally(() => socket.destroy());
}

async function request(url: string, token?: string): Promise<{ status: number; text: string } | undefined> {
  try {
    const response = await fetch(url, {
      headers: { connection: 'close', ...(token && { authorization: `Bearer ${token}` }) },
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    return (cause as Error).name === 'TimeoutError' ? undefined : { status: 0, text: '' };
  }
}

function readHealth(text: string, service: string): Readiness | undefined {
  try {
    const body = JSON.parse(text);
    const { details = service === 'console' ? [] : undefined } = body;
    return body.service === service && Array.isArray(details) ? { ...body, details } : undefined;
  } catch {
    return undefined;
  }
}

/** Reads Prometheus' text format. */
function readSamples(text: string): Samples {
  const samples = new Map<string, number>();
  for (const [, name, value] of text.matchAll(/^([a-z_]\w*)(?:\{.*\})? (\S+)$/gim)) {
    samples.set(name as string, (samples.get(name as string) ?? 0) + Number(value));
  }
  return samples;
}

/** Ports, health and version of the services. */
export function checkService({ service, setting, url, port, health }: ServiceLook): Finding[] {
  switch (port) {
    case 'unknown':
      return [ok(service, `${setting}=0 picks any free port, so it cannot be checked`)];
    case 'free':
      return [warning(service, `not running: nothing listens at ${url}`, 'start it if it should run')];
    case 'silent':
      return [
        error(
          service,
          `is not responding at ${url}: it is hung, paused or overloaded`,
          'see its log, then restart it',
        ),
      ];
    case 'foreign':
      return [
        error(service, `another program listens at ${url}`, `stop that program, or set another ${setting}`),
      ];
    case 'ours':
      return checkHealth(service, url as string, health as Readiness);
  }
}

function checkHealth(service: string, url: string, { status, version, details }: Readiness): Finding[] {
  const findings: Finding[] = [];
  if (status === 'OK') findings.push(ok(service, `responds at ${url}`));
  else findings.push(error(service, `${status} at ${url}`, REMEDIES[status] ?? 'see its log'));
  if (version !== VERSION) {
    const message = `running ${version}, but ${VERSION} is installed`;
    findings.push(warning(service, message, 'restart it'));
  }
  for (const { name, status: word, message } of details) {
    if (word === 'OK' || CHECKED_APART.includes(name)) continue;
    findings.push(warning(service, `${name}: ${word}${message ? `, ${message}` : ''}`, 'docs/operations.md'));
  }
  return findings;
}

/** Details that have lines of their own. */
const CHECKED_APART = ['backup', 'clock', 'mail', 'webhook'];

const REMEDIES: Record<string, string> = {
  WRITES_REFUSED: 'reads still work; free disk space, or make the database writable again',
  DATABASE_UNREACHABLE:
    'start the database, or repair the network to it; the service reconnects automatically',
  FILES_UNREACHABLE: 'start the S3 server of S3_BUCKET, or repair the network to it; the service then starts',
  WRITER_HUNG: 'look for locks and stuck sessions in the database; the service continues automatically',
  STOPPING: 'wait until it has stopped',
};

/**
 * Whether the console is built, if it is among the services.
 *
 * @param folder of the built console, if it is another one
 */
export function checkConsole({ SERVICES }: Pick<Settings, 'SERVICES'>, folder?: string): Finding[] {
  if (!SERVICES.includes('console')) return [];
  if (isConsoleBuilt(folder)) return [ok('console', 'is built')];
  const message = 'is not built: its page only shows how to build it';
  return [warning('console', message, 'run `npm run console`, and restart it')];
}

/** Seconds since the start of a service's process; undefined if not known. */
export function uptimeOf({ metrics }: ServiceLook, now: Date): number | undefined {
  const began = metrics?.get('process_start_time_seconds');
  return began === undefined ? undefined : Math.max(0, now.getTime() / 1000 - began);
}

/** Troubles that a service counts, with what they say of it. */
const TROUBLES: Record<string, string> = {
  database_connections_lost_total: 'connections to the database lost',
  slow_statements_total: 'slow statements',
  event_loop_stalls_total: 'stalls of the process',
  clients_cut_off_total: 'clients that stalled',
};

/** Past faults since the start of a service. */
export function checkPast(look: ServiceLook, now: Date): Finding[] {
  const uptime = uptimeOf(look, now);
  if (uptime === undefined) return [];
  const counted = Object.entries(TROUBLES)
    .map(([name, words]) => ({ words, count: look.metrics?.get(name) ?? 0 }))
    .filter(({ count }) => count > 0)
    .map(({ words, count }) => `${words}: ${count}`);
  const since = `in the ${inTime(uptime)} since its start`;
  const log = checkLog(look, since);
  if (counted.length > 0) {
    const remedy = 'find the times in its log (docs/operations.md, "Fault indicators")';
    return [...log, warning(look.service, `${since} ${counted.join(', ')}`, remedy)];
  }
  return log.length > 0 ? log : [ok(look.service, `no faults ${since}`)];
}

function checkLog({ service, metrics }: ServiceLook, since: string): Finding[] {
  const lines = metrics?.get('log_lines_dropped_total') ?? 0;
  if (lines === 0) return [];
  const message = `${since} log lines that could not be written: ${lines}`;
  return [
    warning(service, message, 'free space on the disk of its log, or repair the program that reads it'),
  ];
}
