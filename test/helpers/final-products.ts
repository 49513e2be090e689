import type { World } from './authorisation.ts';

/**
 * Rows of the authorisation table for final products.
 *
 * @param productOf gives the id of a new product of the company
 * @param kinds statuses for reading and for changing what belongs to the company
 */
export function finalProductRows<Kinds extends object>(
  productOf: (world: World) => Promise<number>,
  { reading, changing }: { reading: Kinds; changing: Kinds },
): Record<string, Kinds & { path: (world: World) => string | Promise<string>; body?: () => object }> {
  const ofProduct = (rest: string) => async (world: World) => `/api/product/${await productOf(world)}${rest}`;
  const ofOne = (rest: string) => async (world: World) => {
    const path = await ofProduct('/finalProduct')(world);
    const { body } = await world.owner.send('PUT', path, { name: 'x' });
    return `${path}/${body.data.id}${rest}`;
  };
  const all = '/api/product/{productId}/finalProduct';
  const item = `${all}/{finalProductId}`;
  return {
    [`PUT ${all}`]: { path: ofProduct('/finalProduct'), body: () => ({ name: 'x' }), ...changing },
    [`GET ${all}/list`]: { path: ofProduct('/finalProduct/list'), ...reading },
    [`GET ${item}`]: { path: ofOne(''), ...reading },
    [`DELETE ${item}`]: { path: ofOne(''), ...changing },
    [`GET ${item}/labels`]: { path: ofOne('/labels'), ...reading },
    'GET /api/final-product/company/{companyId}': {
      path: ({ companyId }: World) => `/api/final-product/company/${companyId}`,
      ...reading,
    },
  };
}
