import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';
import { type Bucket, bucket } from './s3.ts';

/** An S3 that fails: it answers 503, is slow, or breaks every connection off. */
export interface FailingS3 extends Bucket {
  behaviour: 'well' | 'busy' | 'slow' | 'gone';
  /** requests that have come so far */
  requests: number;
}

/** The delay of a slow S3 before it answers, in milliseconds. */
const SLOW_MS = 300;

/** An S3 server on loopback with one empty bucket, reached through a relay that can fail. */
export async function failingS3(): Promise<FailingS3> {
  const kept = await bucket();
  const { hostname, port } = new URL(kept.environment.S3_ENDPOINT as string);
  const relay: Server = createServer((incoming, outgoing) => {
    s3.requests++;
    if (s3.behaviour === 'gone') return incoming.socket.destroy();
    if (s3.behaviour === 'busy') {
      incoming.resume();
      return outgoing.writeHead(503).end();
    }
    const { method, url: path, headers } = incoming;
    const onward = request({ hostname, port, method, path, headers }, answer => {
      const pass = () => {
        outgoing.writeHead(answer.statusCode as number, answer.headers);
        answer.pipe(outgoing);
      };
      const at = Date.now() + (s3.behaviour === 'slow' ? SLOW_MS : 0);
      eventually(() => Date.now() >= at).then(pass);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const s3: FailingS3 = {
    behaviour: 'well',
    requests: 0,
    environment: { ...kept.environment, S3_ENDPOINT: endpoint },
    async stop() {
      relay.closeAllConnections();
      await new Promise(resolve => relay.close(resolve));
      await kept.stop();
    },
  };
  return s3;
}
