import { answered, enveloped, trace } from '../../api/services.ts';

/** The steps that set an instance up. */
export const STEPS = ['name', 'password', 'address', 'observation', 'colleague', 'done'] as const;
export type Step = (typeof STEPS)[number];

/** The global setting of the trace backend with the step where somebody left, as a query. */
const SETTING = 'FIRST_STEP';
const params = { path: { name: SETTING } };

/** The query of the step where somebody left; empty before the first one. */
export async function stepLeft(signal?: AbortSignal): Promise<URLSearchParams> {
  const call = trace.GET('/api/common/globalSettings/{name}', { params, ...(signal && { signal }) });
  const { value } = await enveloped(call);
  return new URLSearchParams(value);
}

/**
 * Keeps the step that comes next.
 *
 * @param query the packet that it shares
 * @throws Failure
 */
export async function keepStep(step: Step, { packet }: { packet?: string | undefined } = {}): Promise<void> {
  const value = new URLSearchParams({ ...(packet && { packet }), step }).toString();
  await answered(
    trace.POST('/api/common/globalSettings/{name}', { params, body: { value, isPublic: false } }),
  );
}
