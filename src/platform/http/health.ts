import { Gauge, type Registry } from 'prom-client';
import { CONDITIONS, type Condition } from '../database/condition.ts';
import { Type } from '../type.ts';
import { VERSION } from '../version.ts';
import type { Server } from './server.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether health says that the process is about to stop, so that load balancers send requests to others. */
    isDraining: boolean;
  }
}

const Health = Type.Object({
  status: Type.String({
    description:
      'OK, WRITES_REFUSED, DATABASE_UNREACHABLE, WRITER_HUNG or STOPPING; FILES_UNREACHABLE while the service ' +
      'waits for S3 at startup',
  }),
  service: Type.String(),
  version: Type.String(),
});

const Detail = Type.Object({
  name: Type.String({ description: 'name of the check' }),
  status: Type.String({ description: 'OK, or the kind of problem' }),
  message: Type.Optional(Type.String({ description: 'a message for operators' })),
});

const Readiness = Type.Object({
  ...Health.properties,
  details: Type.Array(Detail, {
    maxItems: 20,
    description: "further details; these don't affect the status",
  }),
});

const tags = ['Health'];
const ready =
  'the service accepts requests; while the status is WRITES_REFUSED, reads succeed and writes return 503';
const notReady = 'the service is unavailable: send requests to another process';

const healthSchema = {
  operationId: 'getHealth',
  tags,
  summary: 'Check whether the service is healthy',
  description: 'Based on a database check (reads and writes) that is at most 5 seconds old.',
  response: { 200: { ...Health, description: ready }, 503: { ...Health, description: notReady } },
};

const readySchema = {
  operationId: 'getReadiness',
  tags,
  summary: 'Check whether the service is healthy, with details',
  description: 'The status of /health with details for operators.',
  response: { 200: { ...Readiness, description: ready }, 503: { ...Readiness, description: notReady } },
};

const liveSchema = {
  operationId: 'getLiveness',
  tags,
  summary: 'Check whether the process responds',
  description: "For supervisors that restart a hanging process. Doesn't check the database.",
  response: { 200: { ...Health, description: 'the process responds' } },
};

/** Something that an operator should know; it does not take the process out of service. */
export interface HealthDetail {
  name: string;
  /** OK, or a word for what is not */
  status: string;
  message?: string;
}

export interface Health {
  /**
   * Adds a detail to /health/ready.
   *
   * @param look returns what is known already, undefined if nothing is; it must not query the database
   */
  addDetail(look: () => HealthDetail | undefined): void;
}

/**
 * GET /health, /health/ready and /health/live: what a load balancer, an orchestrator and a person look at first.
 *
 * @param metrics gets the gauge `writes_refused`
 */
export function registerHealth(
  app: Server,
  service: string,
  { condition, metrics }: { condition: Condition; metrics: Registry },
): Health {
  const about = { service, version: VERSION };
  const details: (() => HealthDetail | undefined)[] = [];
  app.decorate('isDraining', false);
  app.addHook('preClose', async () => {
    app.isDraining = true;
  });

  async function find(): Promise<{ code: 200 | 503; status: string }> {
    const status = app.isDraining ? 'STOPPING' : await condition.status();
    return { code: status === 'OK' || status === 'WRITES_REFUSED' ? 200 : 503, status };
  }

  const open = { open: true, health: true };
  app.get('/health', { schema: healthSchema, config: open }, async (_request, reply) => {
    const { code, status } = await find();
    return reply.code(code).send({ status, ...about });
  });
  app.get('/health/ready', { schema: readySchema, config: open }, async (_request, reply) => {
    const { code, status } = await find();
    return reply.code(code).send({ status, ...about, details: details.flatMap(look => look() ?? []) });
  });
  app.get('/health/live', { schema: liveSchema, config: open }, async () => ({ status: 'OK', ...about }));

  new Gauge({
    name: 'service_condition',
    help: '1 for the current condition of the service, 0 for the others',
    labelNames: ['status'],
    registers: [metrics],
    async collect() {
      const status = await condition.status();
      for (const name of CONDITIONS) this.set({ status: name }, name === status ? 1 : 0);
    },
  });
  new Gauge({
    name: 'writes_refused',
    help: '1 while the database serves reads but refuses writes',
    registers: [metrics],
    async collect() {
      this.set((await condition.status()) === 'WRITES_REFUSED' ? 1 : 0);
    },
  });
  return { addDetail: look => details.push(look) };
}
