import { registerHooks } from 'node:module';

// For `node --import`: fieldtrace with a log that takes nothing, to measure what the log costs.
const EMPTY_STORE = `
  export const NO_HORIZON = '0';
  export const queueStatements = () => [];
  export const queueEvents = async () => {};
  export const listen = async () => {};
  export const readNotice = () => undefined;
  export const geoidKey = geoid => geoid;
  export const appendQueued = async (_connection, horizon) =>
    ({ head: 0, appended: false, more: false, horizon, clock: null });
`;

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/packet-service/log/store.ts')) return next(url, context);
    return { format: 'module', shortCircuit: true, source: EMPTY_STORE };
  },
});
