import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

// The upper limit given by HTTP and JSON: a route that parses a body and stores nothing.
const app = fastify();
app.post('/intake/scouting', (_request, reply) => reply.code(201).send({ packet_uuid: 'x'.repeat(26) }));
await app.listen({ port: 0, host: '127.0.0.1' });
console.log(`port ${(app.server.address() as AddressInfo).port}`);
process.on('SIGTERM', () => process.exit(0));
