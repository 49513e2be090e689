import { ABSENT } from './ledger.ts';
import type { Teller } from './story.ts';

/** A published label and its product. */
interface Labelled {
  productId: number;
  id: number;
  uuid: string;
}

/** The data of a label: its content and values, a batch, feedback, and an entry of the product's blog. */
export async function labelContents(
  { mark, n, send, read, made, change }: Teller,
  { productId, id, uuid }: Labelled,
  own: { headers: { cookie: string } },
): Promise<void> {
  await send({
    endpoint: 'PUT /api/product/label/content',
    body: { labelId: id, description: mark },
    ...own,
  });
  const fields = [{ name: 'process.production', value: mark }];
  await send({ endpoint: 'PUT /api/product/label/values', body: { id, fields }, ...own });
  await send({
    endpoint: 'POST /api/product/label/{id}/differences',
    at: { id: String(id) },
    body: { names: ['process.production'] },
    ...own,
  });

  await send({
    endpoint: 'PUT /api/product/label/{id}/documents',
    at: { id: String(id) },
    body: [],
    ...own,
  });

  const created = await send({
    endpoint: 'POST /api/product/label_batch/create',
    body: { labelId: id, number: mark },
    ...own,
    once: true,
  });
  const batchId = String(created.body.data.id);
  const batch = made('batch', batchId, mark);
  const body = { id: batchId, number: `${mark} renamed` };
  await change(batch, `${mark} renamed`, { endpoint: 'PUT /api/product/label_batch', body, ...own });
  // Where the label goes, its batches go with it.
  if (n % 2 === 0) {
    const endpoint = 'DELETE /api/product/label_batch/{id}';
    await change(batch, ABSENT, { endpoint, at: { id: batchId }, ...own, done: [404] });
  }

  const endpoint = 'POST /api/public/product/label/feedback/{uuid}';
  await send({ endpoint, at: { uuid }, body: { feedback: mark }, once: true });
  await send({ endpoint: 'POST /api/product/label/{id}/feedback/seen', at: { id: String(id) }, ...own });
  const list = await read(`/api/public/product/label/feedback/list/${uuid}`, own.headers);
  await send({
    endpoint: 'DELETE /api/product/label/feedback/{id}',
    at: { id: String(list.body.data.items[0].id) },
    ...own,
    done: [404],
  });
  await productContents({ send, read }, { productId, mark }, own);
}

/** The records of the product besides its labels: an entry of its blog, and a final product. */
async function productContents(
  { send, read }: Pick<Teller, 'send' | 'read'>,
  { productId, mark }: { productId: number; mark: string },
  own: { headers: { cookie: string } },
): Promise<void> {
  await send({
    endpoint: 'POST /api/product/knowledgeBlog/{productId}',
    at: { productId: String(productId) },
    body: { title: mark },
    ...own,
    once: true,
  });
  const blog = await read(`/api/product/knowledgeBlog/list/${productId}`, own.headers);
  const entry = { id: blog.body.data.items[0].id, title: `${mark} renamed` };
  await send({ endpoint: 'PUT /api/product/knowledgeBlog', body: entry, ...own });

  const finalProduct = await send({
    endpoint: 'PUT /api/product/{productId}/finalProduct',
    at: { productId: String(productId) },
    body: { name: mark, labels: [] },
    ...own,
    once: true,
  });
  await send({
    endpoint: 'DELETE /api/product/{productId}/finalProduct/{finalProductId}',
    at: { productId: String(productId), finalProductId: String(finalProduct.body.data.id) },
    ...own,
    done: [404],
  });
}
