import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The upper limit given by HTTP: a server of node:http that answers each GET with the body of the last POST.
let answer = Buffer.alloc(0);
const server = createServer(async (request, response) => {
  if (request.method === 'POST') answer = Buffer.concat(await request.toArray());
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.end(request.method === 'POST' ? undefined : answer);
});
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`));
process.on('SIGTERM', () => process.exit(0));
