import type pg from 'pg';
import { Type } from 'typebox';
import type { Server } from '../../platform/server.ts';
import { isReachable } from './store.ts';

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
export function registerHealth(app: Server, { pool, version }: { pool: pg.Pool; version: string }): void {
  const about = { service: 'packet-service', version };
  app.get('/health', { schema: healthSchema, config: { open: true } }, async (_request, reply) =>
    (await isReachable(pool))
      ? { status: 'OK', ...about }
      : reply.code(503).send({ status: 'DATABASE_UNREACHABLE', ...about }),
  );
}
