import { answered, enveloped, trace } from '../../api/services.ts';
import type { VersionHeader } from '../../parts/forms/edited-record.svelte.ts';
import { loadProduct } from '../products/load-product.ts';

/** A label with its version, and its product, on which it depends who may change the label. */
export async function loadLabel(id: string, signal?: AbortSignal) {
  const call = trace.GET('/api/product/label/{id}', { params: { path: { id } }, ...(signal && { signal }) });
  const { data: label } = await answered(call);
  const version = (await call).response.headers.get('etag') ?? '';
  const { product } = await loadProduct(String(label.productId), signal);
  return { label, version, product };
}

/** A label with its copy of the product's data. */
export async function loadLabelContent(id: string, signal?: AbortSignal) {
  const read = await loadLabel(id, signal);
  const params = { path: { id } };
  const call = trace.GET('/api/product/label/content/{id}', { params, ...(signal && { signal }) });
  return { ...read, content: await enveloped(call) };
}

/** The documents of the owner, and which of them a label shows. */
export function loadDocuments(id: string, signal?: AbortSignal) {
  const params = { path: { id } };
  return enveloped(trace.GET('/api/product/label/{id}/documents', { params, ...(signal && { signal }) }));
}

/**
 * Changes a label's copy of the product's data.
 *
 * @param changes what is not in them stays as it is
 * @param header the version of the label that is changed
 * @throws Failure
 */
export async function saveContent(id: string, changes: object, header: VersionHeader): Promise<void> {
  const body = { labelId: Number(id), ...changes };
  await answered(trace.PUT('/api/product/label/content', { params: { header }, body: body as never }));
}
