import { answered, trace } from '../../api/services.ts';

/** A product with its version, for a change of what was read. */
export async function loadProduct(id: string, signal?: AbortSignal) {
  const call = trace.GET('/api/product/{id}', { params: { path: { id } }, ...(signal && { signal }) });
  const { data: product } = await answered(call);
  return { product, version: (await call).response.headers.get('etag') ?? '' };
}
