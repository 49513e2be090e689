import type { FastifyBaseLogger } from 'fastify';

const METHODS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** A request's logger before its first line: what it will be made of. */
interface Unmade {
  parent: FastifyBaseLogger;
  bindings: object;
  options: object;
  made: FastifyBaseLogger | undefined;
}

/**
 * Makes the logger of a request, which adds the request's id to its lines, when it writes its first line. Most requests
 * write none, and making pino's child would be one of the dearest steps of a small request
 * (docs/decisions/micro-optimisations.md).
 */
export function requestLogger(
  parent: FastifyBaseLogger,
  bindings: object,
  options: object,
): FastifyBaseLogger {
  const logger: Unmade = Object.create(prototype);
  logger.parent = parent;
  logger.bindings = bindings;
  logger.options = options;
  logger.made = undefined;
  return logger as unknown as FastifyBaseLogger;
}

function make(logger: Unmade): FastifyBaseLogger {
  logger.made ??= logger.parent.child(logger.bindings, logger.options);
  return logger.made;
}

const prototype = {
  get level(): string {
    return (this as unknown as Unmade).parent.level;
  },
  child(this: Unmade, ...words: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return make(this).child(...words);
  },
  silent() {},
  ...Object.fromEntries(
    METHODS.map(method => [
      method,
      function (this: Unmade, ...words: [object, string]) {
        make(this)[method](...words);
      },
    ]),
  ),
};
