import type { Send } from './service.ts';

// biome-ignore lint/suspicious/noExplicitAny: any JSON Schema
export type JsonSchema = any;

export interface Parameter {
  in: 'path' | 'query' | 'header' | 'cookie';
  name: string;
  required?: boolean;
  schema: JsonSchema;
}

/** An operation of a running service, as its own definition has it. */
export interface Operation {
  /** in upper case */
  method: string;
  /** with {names} in braces */
  path: string;
  /** whether anyone may call it */
  open: boolean;
  parameters: Parameter[];
  /** schemas by media type */
  body: Record<string, JsonSchema>;
  /** by status, schemas by media type */
  responses: Record<string, Record<string, JsonSchema>>;
}

type Content = Record<string, { schema: JsonSchema }>;

/** Every operation of the running service, from its own definition. */
export async function operationsOf(send: Send, definitionPath: string): Promise<Operation[]> {
  const body = await definitionOf(send, definitionPath);
  const schemas = (content: Content = {}) =>
    Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, schema]));
  return Object.entries<Record<string, JsonSchema>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      open: operation.security?.length === 0,
      parameters: operation.parameters ?? [],
      body: schemas(operation.requestBody?.content),
      responses: Object.fromEntries(
        Object.entries<{ content?: Content }>(operation.responses).map(([status, { content }]) => [
          status,
          schemas(content),
        ]),
      ),
    })),
  );
}

/** An operation's path with texts for its parameters, which are escaped, or one text for all of them. */
export function filledPath(
  { path }: Pick<Operation, 'path'>,
  texts: Record<string, string> | string,
): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(typeof texts === 'string' ? texts : (texts[name] ?? 'x')),
  );
}

/** A definition with its references replaced by what they lead to, as far as they go. */
export function withoutReferences<Definition extends object>(definition: Definition): Definition {
  const resolved = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(resolved);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref, ...rest } = part as { $ref?: unknown };
    const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, resolved(value)]));
    if (typeof $ref !== 'string') return own;
    const target = $ref
      .slice(2)
      .split('/')
      .reduce((at: JsonSchema, name) => at?.[name], definition);
    if (target === undefined) throw new Error(`${$ref} leads nowhere`);
    return { ...(resolved(target) as object), ...own };
  };
  return resolved(definition) as Definition;
}

/** The definition of a running service, without references. */
export async function definitionOf(send: Send, path: string): Promise<JsonSchema> {
  return withoutReferences((await send('GET', path)).body);
}
