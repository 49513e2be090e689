/**
 * The JSON Canonicalization Scheme, RFC 8785: the one text that a JSON value has. Object keys are ordered by
 * their UTF-16 code units (§3.2.3); strings and numbers are written as ECMAScript writes them (§3.2.2), which
 * is what JSON.stringify does.
 *
 * Building the text directly keeps integer-like keys in their place; a sorted copy of the object would not,
 * because JavaScript objects order such keys by number.
 *
 * @param value what `readJson` gives back: finite numbers, well-formed strings, bounded depth
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text && ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record).sort()) {
    text += `${text && ','}${JSON.stringify(key)}:${canonicalJson(record[key])}`;
  }
  return `{${text}}`;
}
