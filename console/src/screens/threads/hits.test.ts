import { expect, test } from 'vitest';
import { chosenSearch, hitAddress, hitsAddress } from './hits.ts';

test('the address of a hit leads back to the search, and only to that', () => {
  const search = chosenSearch(new URLSearchParams('keyword=leaf rust&from=2026-01-01&to=&other=1'));
  expect(search).toEqual({ keyword: 'leaf rust', from: '2026-01-01' });
  const address = new URL(hitAddress({ thread_id: 'T', packet_id: 'M' }, search), 'http://localhost');
  expect([address.pathname, address.searchParams.get('message')]).toEqual(['/threads/T', 'M']);
  expect(chosenSearch(address.searchParams)).toEqual(search);
  expect(hitsAddress(search)).toBe('/threads?keyword=leaf+rust&from=2026-01-01');
  expect(hitsAddress(chosenSearch(new URLSearchParams('message=M')))).toBeUndefined();
});
