import { SettingsError } from './platform/settings/settings.ts';

/** The settings of the ports, by service. */
export const PORTS = { packet: 'PACKET_PORT', trace: 'TRACE_PORT', console: 'CONSOLE_PORT' } as const;

export type ServiceName = keyof typeof PORTS;

/** The services that SERVICES names. */
export function servicesOf(SERVICES: string): ServiceName[] {
  return SERVICES.split(',') as ServiceName[];
}

/** What a failure to listen means to operators; any other error is returned as it is. */
export function unusablePort(setting: string, port: number, error: unknown): unknown {
  const { syscall, code } = error as NodeJS.ErrnoException;
  if (syscall !== 'listen') return error;
  return new SettingsError(`${setting} ${port} on HOST cannot be listened on: ${code}`);
}
