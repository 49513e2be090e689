import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span as a collector gets it. */
export interface CollectedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Record<string, unknown>;
}

/** An OpenTelemetry collector (OTLP over HTTP, JSON) on loopback. */
export interface Collector {
  url: string;
  /** all that came so far */
  spans: CollectedSpan[];
  /** every request as sent */
  texts: string[];
  /** Does not answer from now on. */
  hang(): void;
  close(): Promise<void>;
}

interface Value {
  stringValue?: string;
  intValue?: number;
}

interface Exported {
  resourceSpans: {
    scopeSpans: {
      spans: (Omit<CollectedSpan, 'attributes'> & { attributes: { key: string; value: Value }[] })[];
    }[];
  }[];
}

export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  let hangs = false;
  const server = createServer(async (request, response: ServerResponse) => {
    const body = await text(request);
    texts.push(`${request.method} ${request.url} ${body}`);
    if (hangs) return;
    response.setHeader('content-type', 'application/json').end('{}');
    const { resourceSpans }: Exported = JSON.parse(body);
    for (const { scopeSpans } of resourceSpans)
      for (const scope of scopeSpans) spans.push(...scope.spans.map(plain));
  });
  server.listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    texts,
    hang() {
      hangs = true;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function plain({
  attributes,
  ...span
}: Exported['resourceSpans'][number]['scopeSpans'][number]['spans'][number]): CollectedSpan {
  const { name, traceId, spanId, parentSpanId } = span;
  return {
    name,
    traceId,
    spanId,
    parentSpanId: parentSpanId || undefined,
    attributes: Object.fromEntries(
      attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
    ),
  };
}
