/** The reasons of the trace backend. */
export const traceReasons = {};
