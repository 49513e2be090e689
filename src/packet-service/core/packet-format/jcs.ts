/**
 * The JSON Canonicalization Scheme, RFC 8785: the canonical text of a JSON value. Object keys are ordered by their
 * UTF-16 code units (§3.2.3); strings and numbers are written as ECMAScript writes them (§3.2.2), which is what
 * JSON.stringify does.
 *
 * Building the text directly keeps integer-like keys in their place; a sorted copy of the object would not, because
 * JavaScript objects order such keys by number.
 *
 * @param value what `readJson` gives back: finite numbers, well-formed strings, bounded depth
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    // A long list of numbers or strings has no keys to order.
    if (value.length > FEW && value.every(isScalar)) return JSON.stringify(value);
    for (const item of value) text += `${text && ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const record = value as Record<string, unknown>;
  for (const key of sorted(Object.keys(record))) {
    text += `${text && ','}${JSON.stringify(key)}:${canonicalJson(record[key])}`;
  }
  return `{${text}}`;
}

function isScalar(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** Keys up to which they are sorted by insertion, in place: sort() allocates for every object. */
const FEW = 32;

function sorted(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let next = 1; next < keys.length; next++) {
    const key = keys[next] as string;
    let at = next;
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}
