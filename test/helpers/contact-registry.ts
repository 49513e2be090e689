import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ContactRegistry {
  url: string;
  /** whom contacts belong to */
  holders: Map<string, { user_id: unknown; discoverable: unknown }>;
  behaviour: 'answer' | 'fail' | 'stall' | 'nonsense' | 'redirect' | 'hang up';
  /** the contacts that it was asked about */
  contacts: string[];
  stop(): Promise<void>;
}

/** What it answers about every key: its look-up has no faults. */
const HOLDER = { user_id: 'machine', role: 'USER', scopes: ['read'], expires_at: '2999-01-01T00:00:00Z' };

/**
 * A user registry on loopback: the look-up of contacts (GET /registry/discoverability?contact=…), faults included, and
 * that of keys (POST /registry/user/api-keys/resolve).
 */
export async function contactRegistry(): Promise<ContactRegistry> {
  const http = createServer((request, response) => {
    const url = new URL(request.url as string, 'http://registry');
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/registry/user/api-keys/resolve') {
      json(200, HOLDER);
      return;
    }
    const contact = url.searchParams.get('contact') ?? '';
    registry.contacts.push(contact);
    const holder = registry.holders.get(contact);
    if (registry.behaviour === 'stall') return;
    if (registry.behaviour === 'hang up') request.socket.destroy();
    else if (registry.behaviour === 'fail') json(500, { error: 'broken' });
    else if (registry.behaviour === 'nonsense') response.end('<html>');
    else if (registry.behaviour === 'redirect') response.writeHead(302, { location: registry.url }).end();
    else if (url.pathname !== '/registry/discoverability') json(400, { error: url.pathname });
    else if (holder) json(200, holder);
    else json(404, { error: 'unknown' });
  });
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve));
  const registry: ContactRegistry = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/registry`,
    holders: new Map(),
    behaviour: 'answer',
    contacts: [],
    async stop() {
      http.closeAllConnections();
      await new Promise(resolve => http.close(resolve));
    },
  };
  return registry;
}
