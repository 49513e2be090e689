import { Problem } from '../../../platform/http/problems.ts';
import type { FieldToRegister } from './registry.ts';
import type { Surveyor } from './surveyor.ts';

/** Fields in one request. */
export const MAX_FEATURES = 1000;
/** Characters of a field's name. */
export const MAX_NAME = 200;

/**
 * Reads a GeoJSON Feature or FeatureCollection as fields to register. They are read one after another.
 *
 * @throws Problem invalid, naming the path of the wrong member, such as `features[3].geometry.coordinates[0]`
 */
export async function readFeatures(body: unknown, surveyor: Surveyor): Promise<FieldToRegister[]> {
  const { type, features } = asObject(body, 'the body');
  if (type === 'Feature') return [await readFeature(body, '', surveyor)];
  if (type !== 'FeatureCollection') throw new Problem('field.not_feature_or_collection', { field: 'type' });
  if (!Array.isArray(features) || features.length === 0 || features.length > MAX_FEATURES) {
    throw new Problem('field.wrong_feature_count', { field: 'features', max: MAX_FEATURES });
  }
  const fields: FieldToRegister[] = [];
  for (const [index, feature] of features.entries()) {
    fields.push(await readFeature(feature, `features[${index}].`, surveyor));
  }
  return fields;
}

/**
 * @param prefix prefix of the feature's members in error messages
 */
async function readFeature(feature: unknown, prefix: string, surveyor: Surveyor): Promise<FieldToRegister> {
  const { type, geometry, properties } = asObject(feature, prefix.slice(0, -1));
  if (type !== 'Feature') throw new Problem('field.not_feature', { field: `${prefix}type` });
  const name = readName(properties, prefix);
  const surveyed = await surveyor.survey(geometry, `${prefix}geometry`, true);
  const { type: kind, coordinates } = geometry as { type: string; coordinates: unknown };
  return { name, boundary: JSON.stringify({ type: kind, coordinates }), ...surveyed };
}

function readName(properties: unknown, prefix: string): string | undefined {
  if (properties === undefined || properties === null) return undefined;
  const { name } = asObject(properties, `${prefix}properties`);
  if (name === undefined || name === null) return undefined;
  if (typeof name !== 'string' || name.length > MAX_NAME) {
    throw new Problem('field.wrong_name', { field: `${prefix}properties.name`, max: MAX_NAME });
  }
  return name;
}

function asObject(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Problem('field.not_object', { field: path });
  }
  return value as Record<string, unknown>;
}
