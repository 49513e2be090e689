import { FastifyOtelInstrumentation } from '@fastify/otel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import pg from 'pg';
import type { Logger } from 'pino';
import { statementName } from '../database/statement-name.ts';
import { VERSION } from '../version.ts';

/** Longest that one export may take, and that a stop waits for the last one, in milliseconds. */
const EXPORT_MS = 5000;
const STOP_MS = 3000;
/** Maximum spans that wait to be exported; what is more is dropped. */
const MAX_WAITING = 4096;
/** Attributes that leave the process: no path, query, text of a statement, error message or user. */
const KEPT =
  /^(http\.(request\.method|response\.status_code|route)|hook\.name|fastify\.type|db\.(statement\.name|system(\.name)?|operation\.name|namespace)|error\.type)$/;

/**
 * Starts to trace requests and their statements, and to export the traces to a collector (OTLP over HTTP). This module
 * is loaded only if OTEL_EXPORTER_OTLP_ENDPOINT is set. Settings of the SDK, such as OTEL_TRACES_SAMPLER and
 * OTEL_EXPORTER_OTLP_HEADERS, are read from the environment by the SDK itself.
 *
 * To be called before servers are made. A collector that is away or slow costs spans, never a request.
 *
 * @param endpoint base URL of the collector
 * @returns a function that exports what waits, for 3 seconds at most
 */
export function startTracing(endpoint: string, logger: Logger): () => Promise<void> {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_MS,
  });
  const batches = new BatchSpanProcessor(exporter, {
    exportTimeoutMillis: EXPORT_MS,
    maxQueueSize: MAX_WAITING,
  });
  const own = resourceFromAttributes({ 'service.name': 'fieldtrace', 'service.version': VERSION });
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are stronger.
  const resource = defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new NodeTracerProvider({ resource, spanProcessors: [withoutValues(batches)] });
  provider.register();

  // Neither of the two needs hooks in the loader of modules: fastify publishes each server, and pg is patched here.
  const web = new FastifyOtelInstrumentation({
    registerOnInitialization: true,
    instrumentHooks: false,
    recordExceptions: false,
    requestHook: (span, { method, routeOptions }) =>
      span.updateName(`${method} ${routeOptions.url ?? 'none'}`),
  });
  web.setTracerProvider(provider);
  const statements = new PgInstrumentation({
    enabled: false,
    requireParentSpan: true,
    requestHook(span, { query }) {
      const name = statementName(query);
      span.updateName(name).setAttribute('db.statement.name', name);
    },
  });
  statements.setTracerProvider(provider);
  patchPg(statements);
  logger.info({ version: VERSION }, 'tracing requests and exporting the traces');

  return async () => {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STOP_MS);
    await Promise.race([provider.shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  };
}

/** The part of the instrumentation that patches pg when it is loaded. */
interface Patchable {
  init(): { name: string; patch?: (module: unknown) => unknown }[];
}

function patchPg(instrumentation: PgInstrumentation): void {
  const modules: Record<string, unknown> = { pg, 'pg-pool': Object.getPrototypeOf(pg.Pool) };
  for (const { name, patch } of (instrumentation as unknown as Patchable).init()) patch?.(modules[name]);
}

/** Removes from spans whatever may hold a value of a client before they go on. */
function withoutValues(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, context) => next.onStart(span, context),
    onEnd(span: ReadableSpan) {
      for (const name of Object.keys(span.attributes)) if (!KEPT.test(name)) delete span.attributes[name];
      delete span.status.message;
      span.events.length = 0;
      next.onEnd(span);
    },
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  };
}
