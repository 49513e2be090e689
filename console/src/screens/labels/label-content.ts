import { answered, enveloped, trace } from '../../api/services.ts';
import { loadProduct } from '../products/load-product.ts';

/** A label, and its product, on which it depends who may change the label. */
export async function loadLabel(id: string, signal?: AbortSignal) {
  const params = { path: { id } };
  const label = await enveloped(trace.GET('/api/product/label/{id}', { params, ...(signal && { signal }) }));
  const { product } = await loadProduct(String(label.productId), signal);
  return { label, product };
}

/** A label with what it tells of its product. */
export async function loadLabelContent(id: string, signal: AbortSignal) {
  const params = { path: { id } };
  const [read, content] = await Promise.all([
    loadLabel(id, signal),
    enveloped(trace.GET('/api/product/label/content/{id}', { params, signal })),
  ]);
  return { ...read, content };
}

/** The documents of the owner, and which of them a label shows. */
export function loadDocuments(id: string, signal: AbortSignal) {
  return enveloped(trace.GET('/api/product/label/{id}/documents', { params: { path: { id } }, signal }));
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
