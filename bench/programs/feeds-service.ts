import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { packetService } from '../../src/packet-service/app.ts';
import { connectionFromUrl } from '../../src/platform/database/database.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';

// The packet service, which also reports how much memory it has after a collection.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const settings = readSettings({ ...process.env, PACKET_PORT: '0' });
const app = await packetService(
  settings,
  connectionFromUrl(settings.DATABASE_URL as string),
  pino({ level: 'warn' }),
);
app.get('/memory', { schema: { hide: true } }, () => {
  collect();
  return process.memoryUsage();
});
await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`port ${(app.server.address() as AddressInfo).port}`);
process.on('SIGTERM', () => app.close().then(() => process.exit(0)));
