import { writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { packetService } from '../src/packet-service/app.ts';
import { readSettings } from '../src/platform/settings.ts';

// The definition follows from the routes alone; no database is asked, so none needs to be there.
const server = await packetService(readSettings({}), {}, pino({ level: 'silent' }));
await server.ready();
await writeFile(
  new URL('../openapi/packet-service.json', import.meta.url),
  `${JSON.stringify(server.swagger(), null, 2)}\n`,
);
await server.close();
