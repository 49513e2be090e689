import type { Database } from '../../../platform/database/database.ts';
import { bodyCheck } from '../../../platform/http/validation.ts';
import { Type } from '../../../platform/type.ts';
import { asLabel } from '../products/labels/label.ts';
import type { Label } from '../products/labels/store.ts';
import { Field, type LabelField } from '../products/record/label-schemas.ts';
import { valueAt, withStoredMetadata } from './contents/content.ts';
import { type ContentBody, ContentValues } from './contents/schemas.ts';
import { fieldsOf } from './contents/settle.ts';
import type { OwnContent } from './contents/store.ts';

/** A field with any value, as in requests. */
export type SentValue = Pick<LabelField, 'name' | 'section'> & { value?: unknown };

/** A label with the design settings of its pages. */
export function withSettings(label: Label, own: OwnContent): object {
  return { ...asLabel(label), businessToCustomerSettings: own.businessToCustomerSettings ?? {} };
}

/** A label with the values of its fields, visible or not. */
export async function withValues(database: Database, label: Label, own: OwnContent): Promise<object> {
  const content = await withStoredMetadata(database, own);
  const fields = fieldsOf(label).map(({ name, section, value }) => {
    const ownValue = (name && isPath(name) ? valueAt(content, name) : undefined) ?? value;
    return {
      ...(name && { name }),
      ...(section && { section }),
      ...(ownValue != null && { value: ownValue }),
    };
  });
  return { ...asLabel(label), fields };
}

interface Shape {
  properties?: Record<string, Shape>;
  additionalProperties?: Shape;
}

/** Whether a name is the path of a field of a label's content, such as process.production. */
export function isPath(name: string): boolean {
  let shape: Shape | undefined = ContentValues as Shape;
  for (const part of name.split('.')) {
    const { properties = {}, additionalProperties }: Shape = shape;
    shape = Object.hasOwn(properties, part) ? properties[part] : additionalProperties;
    if (shape === undefined) return false;
  }
  return true;
}

const check = bodyCheck(ContentValues);
const { value: OwnValue } = Field.properties;
const checkOwn = bodyCheck(Type.Object({ fields: Type.Array(Type.Object({ value: OwnValue })) }));

/**
 * Divides the values of a request into a change of the label's content and values that the label's fields store
 * themselves.
 *
 * @throws Problem invalid, with the paths of wrong values
 */
export function dividedValues(sent: readonly SentValue[]): { content: ContentBody; own: SentValue[] } {
  const content: Record<string, unknown> = {};
  const own = sent.filter(({ name, value }) => {
    if (!name || value === undefined || !isPath(name)) return true;
    setAt(content, name.split('.'), value);
    return false;
  });
  checkOwn({ fields: sent.map(field => (own.includes(field) ? field : {})) });
  return { content: check(content), own };
}

function setAt(
  record: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): void {
  const inside = rest.length === 0 ? value : { ...(record[name] as Record<string, unknown> | undefined) };
  if (rest.length > 0) setAt(inside as Record<string, unknown>, rest, value);
  // An assignment to __proto__ would not create a property.
  Object.defineProperty(record, name, {
    value: inside,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** A label's fields after a change of values; existing fields keep members that were not sent. */
export function fieldsAfter(fields: readonly LabelField[], sent: readonly SentValue[]): LabelField[] {
  const byName = new Map(sent.map(field => [field.name, field]));
  const changed = fields.map(field => ({ ...field, ...(byName.get(field.name) as LabelField | undefined) }));
  const names = new Set(fields.map(({ name }) => name));
  return [...changed, ...(sent.filter(({ name }) => !names.has(name)) as LabelField[])];
}
