import { ABSENT } from './ledger.ts';
import type { Story } from './story.ts';

/** The paths of the code lists, with the fields that hold the key and the title of a code. */
const LISTS = [
  ['/api/chain/facility-type', 'code', 'label'],
  ['/api/chain/measure-unit-type', 'code', 'label'],
  ['/api/chain/processing-evidence-type', 'code', 'label'],
  ['/api/chain/processing-evidence-field', 'fieldName', 'label'],
  ['/api/chain/semi-product', undefined, 'name'],
  ['/api/product-type', 'code', 'name'],
] as const;

/** A code of each list is added, renamed, and half of them deleted. */
export const codes: Story = async teller => {
  const { mark, n, world, send, made, change } = teller;
  const headers = { cookie: (await world.admin(teller)).cookie };
  for (const [index, [path, key, title]] of LISTS.entries()) {
    const text = `${mark}-${index}`;
    const created = await send({
      endpoint: `${path === '/api/product-type' ? 'POST' : 'PUT'} ${path}`,
      body: { ...(key && { [key]: text }), [title]: text },
      headers,
      once: true,
    });
    const { id } = created.body.data;
    const fact = made('code', key ? text : `semi-product ${id}`, text);
    await change(fact, `${text} renamed`, {
      endpoint: `PUT ${path}`,
      body: { id, [title]: `${text} renamed` },
      headers,
    });
    if ((n + index) % 2) {
      const endpoint = `DELETE ${path}/{id}`;
      await change(fact, ABSENT, { endpoint, at: { id: String(id) }, headers, done: [404] });
    }
  }
};

/** A value chain with a facility type. */
export const valueChain: Story = async teller => {
  const { mark, n, world, send, made, change } = teller;
  const headers = { cookie: (await world.admin(teller)).cookie };
  const type = await send({
    endpoint: 'PUT /api/chain/facility-type',
    body: { code: mark, label: mark },
    headers,
    once: true,
  });
  const facilityTypes = [{ id: type.body.data.id }];
  const endpoint = 'PUT /api/chain/value-chain';
  const created = await send({ endpoint, body: { name: mark, facilityTypes }, headers, once: true });
  const id = String(created.body.data.id);
  const fact = made('value-chain', id, `ENABLED ${mark} 1`);
  const renamed = { id, name: `${mark} renamed`, facilityTypes: [] };
  await change(fact, `ENABLED ${mark} renamed 0`, { endpoint, body: renamed, headers });
  const path = '/api/chain/value-chain/{id}';
  const disable = { endpoint: `POST ${path}/disable`, at: { id }, headers };
  await change(fact, `DISABLED ${mark} renamed 0`, disable);
  const enable = { endpoint: `POST ${path}/enable`, at: { id }, headers };
  await change(fact, `ENABLED ${mark} renamed 0`, enable);
  if (n % 2) await change(fact, ABSENT, { endpoint: `DELETE ${path}`, at: { id }, headers, done: [404] });
};

export const setting: Story = async teller => {
  const { mark, world, send, made, change } = teller;
  const headers = { cookie: (await world.admin(teller)).cookie };
  const request = { endpoint: 'POST /api/common/globalSettings/{name}', at: { name: mark }, headers };
  await send({ ...request, body: { value: mark, isPublic: true } });
  const fact = made('setting', mark, mark);
  await change(fact, `${mark} changed`, { ...request, body: { value: `${mark} changed` } });
};
