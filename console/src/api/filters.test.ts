import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { AUDIT_FILTERS, CHAT_FILTERS, chosenOf, PACKET_FILTERS, TILE_FILTERS } from './filters.ts';

interface Parameter {
  in: string;
  name: string;
}

/** The names that an operation takes in its query, or in its body. */
function namesOf(service: string, route: string, method: 'get' | 'post'): string[] {
  const file = path.resolve(import.meta.dirname, '../../../openapi', `${service}.json`);
  const definition = JSON.parse(readFileSync(file, 'utf8'));
  const resolved = (part: { $ref?: string }) =>
    (part.$ref?.slice(2).split('/') ?? []).reduce((value, name) => value[name], definition);
  const { parameters = [], requestBody } = definition.paths[route][method];
  const query = parameters
    .map((part: Parameter & { $ref?: string }): Parameter => (part.$ref ? resolved(part) : part))
    .filter((parameter: Parameter) => parameter.in === 'query')
    .map(({ name }: Parameter) => name);
  const schema = requestBody?.content['application/json'].schema ?? {};
  return [...query, ...Object.keys((schema.$ref ? resolved(schema) : schema).properties ?? {})];
}

test.each([
  ['packet-service', '/packets', 'get', PACKET_FILTERS, ['order', 'authors', 'limit', 'cursor']],
  ['packet-service', '/tiles/observations/{z}/{x}/{y}.mvt', 'get', TILE_FILTERS, []],
  ['packet-service', '/chat/query', 'post', CHAT_FILTERS, ['user_id', 'limit', 'cursor']],
  [
    ...(['trace-backend', '/api/audit/list', 'get', AUDIT_FILTERS] as const),
    ['limit', 'offset', 'sortBy', 'sort', 'requestType', 'after'],
  ],
] as const)('the console knows every filter of %s %s', (service, route, method, filters, others) => {
  expect([...filters, ...others].sort()).toEqual(namesOf(service, route, method).sort());
});

test('an address chooses the filters that it has a value for', () => {
  const query = new URLSearchParams('keyword=leaf rust&geoid=g&from=&other=1');
  expect(chosenOf(query, CHAT_FILTERS)).toEqual({ keyword: 'leaf rust', geoid: 'g' });
});
