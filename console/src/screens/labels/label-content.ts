import { answered, enveloped, trace } from '../../api/services.ts';

/** A label and what it tells of its product. */
export async function loadLabel(id: string, signal: AbortSignal) {
  const params = { path: { id } };
  const [label, content] = await Promise.all([
    enveloped(trace.GET('/api/product/label/{id}', { params, signal })),
    enveloped(trace.GET('/api/product/label/content/{id}', { params, signal })),
  ]);
  return { label, content };
}

/**
 * Changes what a label tells of its product, which is a copy of its own.
 *
 * @param changes what is not in them stays as it is
 * @throws Failure
 */
export async function saveContent(id: string, changes: object): Promise<void> {
  const body = { labelId: Number(id), ...changes };
  await answered(trace.PUT('/api/product/label/content', { body: body as never }));
}
