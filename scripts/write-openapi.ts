import { writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { packetService } from '../src/packet-service/app.ts';
import { readSettings } from '../src/platform/settings/settings.ts';
import { traceBackend } from '../src/trace-backend/app.ts';

// The definitions follow from the routes alone; no database is asked, so none needs to be there.
const settings = readSettings({});
const logger = pino({ level: 'silent' });
const servers = {
  'packet-service': await packetService(settings, {}, logger),
  'trace-backend': (await traceBackend(settings, {}, logger)).app,
};
for (const [name, server] of Object.entries(servers)) {
  await server.ready();
  const text = `${JSON.stringify(server.swagger(), null, 2)}\n`;
  await writeFile(new URL(`../openapi/${name}.json`, import.meta.url), text);
  await server.close();
}
