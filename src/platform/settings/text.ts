/** A setting in the schema: a JSON schema, with the allowed values in words where a pattern describes them. */
interface Described {
  description?: string;
  default?: unknown;
  /** which values are allowed, after `must be` */
  allowed?: string;
  type?: string;
  anyOf?: { const: string }[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

/** A row of the table in docs/settings.md. */
export interface SettingRow {
  name: string;
  fallback: string;
  allowed: string;
  meaning: string;
}

/** The schema of settings as rows of a table. */
export function describeSettings(schema: { properties: object }): SettingRow[] {
  return Object.entries(schema.properties).map(([name, property]: [string, Described]) => ({
    name,
    fallback: property.default === undefined ? 'none' : String(property.default),
    allowed: allowedValues(property),
    meaning: property.description ?? '',
  }));
}

/** The allowed values of a setting in words, such as `a whole number from 1 to 16`. */
export function allowedValues(setting: object): string {
  const { allowed, anyOf, type, minimum, maximum, minLength = 0, maxLength } = setting as Described;
  if (allowed !== undefined) return allowed;
  if (anyOf !== undefined) return `one of ${anyOf.map(option => option.const).join(', ')}`;
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  if (type === 'boolean') return 'true or false';
  return `${minLength} to ${maxLength} characters`;
}

const SECRET = /SECRET|TOKEN|KEY|PASSWORD(?!_POLICY)/;

/** The sentence about an invalid value; a secret is not shown. */
export function complaint(name: string, setting: object, value: string): string {
  const shown = SECRET.test(name) || name.includes('URL') ? '' : ` (it is "${value.slice(0, 100)}")`;
  return `${name}${shown} must be ${allowedValues(setting)}: ${(setting as Described).description}`;
}

/** URLs that people or other programs are given; the paths of all others may hold a secret. */
const PUBLIC = /^((TRACE|CONSOLE)_)?PUBLIC_URL$/;

/** URLs separated by commas. */
const SEVERAL = /^READ_DATABASE_URL$/;

/**
 * The value of a setting for people: secrets are masked, and of a URL its user, its host and, for databases, S3 and
 * folders, its path remain.
 */
export function shownValue(name: string, value: unknown): string {
  const text = String(value);
  if (SECRET.test(name)) return '***';
  if (SEVERAL.test(name) && text.includes(',')) {
    return text
      .split(',')
      .map(url => shownValue(name, url))
      .join(',');
  }
  if (!/_(URL|ENDPOINT)$/.test(name) || PUBLIC.test(name)) return text;
  const [, scheme = '', authority = '', path = '', query = ''] =
    /^([a-z0-9+]+:\/\/)([^/?#]*)([^?#]*)(.*)$/is.exec(text) ?? [];
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : `${authority.slice(0, at).replace(/:.*$/s, ':***')}@`;
  const hasPlainPath = /^(postgres(ql)?|file|s3):/.test(scheme);
  const shownPath = hasPlainPath || path.length < 2 ? path : '/…';
  return scheme + user + authority.slice(at + 1) + shownPath + (query ? '?…' : '');
}
