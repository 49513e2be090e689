import type { TSchema } from 'typebox';
import { isHeld } from '../../../platform/http/json.ts';
import type { Server } from '../../../platform/http/server.ts';

/** The parts of a body's JSON schema that decide how the body is read. */
interface Shape {
  type?: string | string[];
  anyOf?: Shape[];
  properties?: Record<string, Shape>;
  additionalProperties?: boolean | Shape;
  items?: Shape;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
}

const NUMBER = /^-?\d+(\.\d+)?$/;
const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
]);

/**
 * Converts a body as sent by front ends, guided by its schema; the hook `readBodies` does it before validation:
 * - texts become the declared type: "4.20" a number, "true" and "false" booleans;
 * - declared fields that are null are removed, as if they had not been sent;
 * - "" becomes null, with which routes clear a field, if the field can be cleared and accepts no empty text.
 *
 * Nothing is ever converted to a text, and undeclared fields stay unchanged.
 */
export function readBody(body: unknown, schema: TSchema): unknown {
  return readAs(body, schema as Shape);
}

/** Converts the bodies of an application's requests with `readBody`. */
export function readBodies(app: Pick<Server, 'addHook'>): void {
  app.addHook('preValidation', async request => {
    const schema = request.routeOptions.schema?.body as TSchema | undefined;
    if (schema) request.body = readBody(request.body, schema);
  });
}

function readAs(value: unknown, shape: Shape): unknown {
  const options = shape.anyOf ?? [shape];
  if (typeof value === 'string') return readText(value, options);
  if (Array.isArray(value)) {
    const items = options.find(option => option.items)?.items;
    return items ? value.map(item => readAs(item, items)) : value;
  }
  if (typeof value === 'object' && value !== null) {
    for (const option of options) readFields(value as Record<string, unknown>, option);
  }
  return value;
}

function readFields(value: Record<string, unknown>, shape: Shape): void {
  // A record's values are additional properties; its keys are checked with the rest.
  const { properties = {}, additionalProperties } = shape;
  for (const [name, field] of Object.entries(value)) {
    const declared = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (typeof declared !== 'object') continue;
    if (field === null) delete value[name];
    else value[name] = readAs(field, declared);
  }
}

function readText(text: string, options: readonly Shape[]): unknown {
  const types = new Set(options.flatMap(({ type }) => type ?? []));
  if (text === '' && types.has('null') && !options.some(takesEmptyText)) return null;
  if (types.has('string') || options.some(option => option.enum)) return text;
  if (types.has('boolean') && BOOLEANS.has(text)) return BOOLEANS.get(text);
  const isNumber = (types.has('number') || types.has('integer')) && NUMBER.test(text);
  // Numbers that a double cannot represent stay texts and are refused.
  return isNumber && isHeld(text) ? Number(text) : text;
}

function takesEmptyText({ type, pattern, minLength = 0 }: Shape): boolean {
  return (
    [type].flat().includes('string') && minLength === 0 && (!pattern || new RegExp(pattern, 'u').test(''))
  );
}
