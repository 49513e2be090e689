import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { type Settings, SettingsError } from './platform/settings/settings.ts';

/** The settings of the ports, by service. */
export const PORTS = { packet: 'PACKET_PORT', trace: 'TRACE_PORT', console: 'CONSOLE_PORT' } as const;

/** The names of the services in the log and in health. */
export const SERVICE_NAMES = {
  packet: 'packet-service',
  trace: 'trace-backend',
  console: 'console',
} as const;

export type ServiceName = keyof typeof PORTS;

/** The services that SERVICES names. */
export function servicesOf(SERVICES: string): ServiceName[] {
  return SERVICES.split(',') as ServiceName[];
}

/**
 * Checks that all ports of the services are free, before anything else is started: PostgreSQL takes seconds, and workers,
 * which share their ports with each other, would also share them with another installation.
 *
 * @throws SettingsError with the setting of the first port that cannot be used
 */
export async function checkPorts(settings: Settings): Promise<void> {
  const chosen = new Map<number, string>();
  const servers: Server[] = [];
  try {
    for (const name of servicesOf(settings.SERVICES)) {
      const { [name]: setting } = PORTS;
      const port = settings[setting];
      const other = port === 0 ? undefined : chosen.get(port);
      if (other)
        throw new SettingsError(`${setting} ${port} is also ${other}. Set one of them to another port.`);
      chosen.set(port, setting);
      const server = createServer();
      try {
        await once(server.listen({ host: settings.HOST, port }), 'listening');
      } catch (error) {
        throw unusablePort(setting, { host: settings.HOST, port }, error);
      }
      servers.push(server);
    }
  } finally {
    await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
  }
}

/** Explains a failure to listen, and what to do; returns any other error unchanged. */
export function unusablePort(
  setting: string,
  { host, port }: { host: string; port: number },
  error: unknown,
): unknown {
  const { syscall, code } = error as NodeJS.ErrnoException;
  if (syscall === 'getaddrinfo')
    return new SettingsError(
      `HOST ${host} has no address (${code}). Set HOST to an address of this machine.`,
    );
  if (syscall !== 'listen') return error;
  if (code === 'EADDRNOTAVAIL')
    return new SettingsError(
      `HOST ${host} is not an address of this machine. Set HOST to one of its addresses.`,
    );
  const name = `${setting} ${port} on ${host}`;
  if (code === 'EADDRINUSE')
    return new SettingsError(`${name} is in use by another program. Stop it, or set ${setting}.`);
  if (code === 'EACCES')
    return new SettingsError(
      `${name} needs root. Set ${setting} to a port from 1024, and put a proxy in front.`,
    );
  return new SettingsError(`${name} cannot be used (${code}). Set HOST or ${setting}.`);
}
