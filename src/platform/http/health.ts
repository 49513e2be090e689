import { Type } from 'typebox';
import { type Database, isReachable } from '../postgres/database.ts';
import { VERSION } from '../version.ts';
import type { Server } from './server.ts';

const Health = Type.Object({
  status: Type.String({ description: 'OK, or DATABASE_UNREACHABLE' }),
  service: Type.String(),
  version: Type.String(),
});

const healthSchema = {
  tags: ['Health'],
  summary: 'Whether the service can work',
  response: {
    200: { ...Health, description: 'the database answers' },
    503: { ...Health, description: 'the database does not answer' },
  },
};

/** What a load balancer and a person look at first. */
export function registerHealth(app: Server, service: string, pool: Database): void {
  const about = { service, version: VERSION };
  app.get('/health', { schema: healthSchema, config: { open: true } }, async (_request, reply) =>
    (await isReachable(pool))
      ? { status: 'OK', ...about }
      : reply.code(503).send({ status: 'DATABASE_UNREACHABLE', ...about }),
  );
}
