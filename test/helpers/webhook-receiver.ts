import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

export interface ReceivedHook {
  headers: IncomingHttpHeaders;
  /** as sent */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: notifications are looked into by tests, whatever their shape
  body: any;
}

export interface WebhookReceiver {
  url: string;
  /** everything it was sent, also what it did not take */
  hooks: ReceivedHook[];
  behaviour: 'take' | 'fail' | 'stall' | 'redirect' | 'endless';
  /** the deliveries about this packet, once this number has arrived */
  hooksAbout(packetId: string, count?: number): Promise<ReceivedHook[]>;
  /** stops listening: connections are refused */
  die(): Promise<void>;
  /** listens again, at the same address */
  revive(): Promise<void>;
}

/** A webhook's receiver on loopback that can fail, stall, lead elsewhere, answer without end, and be gone. */
export async function webhookReceiver(): Promise<WebhookReceiver> {
  let http = await listen(0);
  const { port } = http.address() as AddressInfo;

  async function listen(at: number): Promise<Server> {
    const server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      receiver.hooks.push({ headers: request.headers, text, body: JSON.parse(text) });
      if (receiver.behaviour === 'stall') return;
      if (receiver.behaviour === 'redirect') response.writeHead(307, { location: receiver.url });
      if (receiver.behaviour === 'fail') response.writeHead(503);
      if (receiver.behaviour !== 'endless') return response.end();
      const timer = setInterval(() => response.write('x'.repeat(1024)), 1);
      response.on('close', () => clearInterval(timer));
    });
    await new Promise<void>(resolve => server.listen(at, '127.0.0.1', resolve));
    return server;
  }

  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/notifications`,
    hooks: [],
    behaviour: 'take',
    hooksAbout: (packetId, count = 1) =>
      eventually(
        () => receiver.hooks.filter(({ body }) => body.packet_id === packetId),
        hooks => hooks.length >= count,
      ),
    async die() {
      http.closeAllConnections();
      await new Promise(resolve => http.close(resolve));
    },
    async revive() {
      http = await listen(port);
    },
  };
  return receiver;
}
