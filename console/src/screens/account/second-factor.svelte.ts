import { enveloped, trace } from '../../api/services.ts';
import { Resource } from '../../parts/loading/resource.svelte.ts';

/** The state of the user's second factor. Made in a component. */
export function secondFactor() {
  return new Resource(signal => enveloped(trace.GET('/api/user/second_factor', { signal })));
}

export type SecondFactorState = ReturnType<typeof secondFactor>;
