import { enveloped, trace } from '../../api/services.ts';

/** A label and what it tells of its product. */
export async function loadLabel(id: string, signal: AbortSignal) {
  const params = { path: { id } };
  const [label, content] = await Promise.all([
    enveloped(trace.GET('/api/product/label/{id}', { params, signal })),
    enveloped(trace.GET('/api/product/label/content/{id}', { params, signal })),
  ]);
  return { label, content };
}
