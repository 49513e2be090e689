import { type Operation, operationsOf } from './definition.ts';
import type { Answer, Send } from './service.ts';

/** Media types that a client may ask any route for, besides those in the definition. */
const OTHERS = ['*/*', 'text/html', 'text/csv', 'application/geo+json', 'application/x-ndjson', 'image/*'];

/** Looks up what a definition says of the media types of answers. */
export interface MediaTypes {
  /** every media type that some answer has, and more */
  accepts: string[];
  /** why an answer's media type is not as the definition of its route says; undefined if it is */
  wrongIn(route: string, answer: Answer): string | undefined;
}

export async function mediaTypesOf(send: Send, definitionPath: string): Promise<MediaTypes> {
  const operations = new Map<string, Operation>();
  for (const operation of await operationsOf(send, definitionPath)) {
    operations.set(`${operation.method} ${operation.path}`, operation);
  }
  const declared = [...operations.values()].flatMap(({ responses }) =>
    Object.values(responses).flatMap(content => Object.keys(content)),
  );
  return {
    accepts: [...new Set([...declared, ...OTHERS])],
    wrongIn(route, { status, headers }) {
      const type = headers.get('content-type')?.split(';')[0];
      if (type === undefined) return undefined;
      // HEAD says what GET would answer; without a GET there is no content to describe.
      const operation = operations.get(route.replace(/^HEAD /, 'GET '));
      if (!operation) return route.startsWith('HEAD ') ? undefined : `${route} is not in the definition`;
      // Errors that every route has, such as 406, are described once, and are JSON.
      const types = Object.keys(operation.responses[status] ?? { 'application/json': {} });
      const isDeclared = [type, `${type.split('/')[0]}/*`, '*/*'].some(range => types.includes(range));
      if (isDeclared) return undefined;
      return `${route} answered ${status} as ${type}; the definition has ${types.join(', ') || 'nothing'}`;
    },
  };
}
