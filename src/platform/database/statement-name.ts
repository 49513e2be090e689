import { hash } from 'node:crypto';

/** Names of statements by their texts. */
const hashes = new Map<string, string>();
/** Texts in it, at most; there are a few hundred. */
const MAX_TEXTS = 2000;
const HASHED = /^[0-9a-f]{40}$/;
/** Characters of a text in which tables are looked for. */
const MAX_SEARCHED = 4000;
/** A table that is written, or one that is read: what has a parenthesis after FROM is a function. */
const TABLE =
  /\b(?:(?:INTO|UPDATE|COPY|TABLE)\s+(?:ONLY\s+)?([a-z_][\w.]*)|(?:FROM|JOIN)\s+(?:ONLY\s+)?([a-z_][\w.]*)(?!\s*\(|[\w.]))/gi;
/** Tables in a name, at most. */
const MAX_TABLES = 2;

/** The SHA-1 of a statement's text, by which connections prepare it. */
export function hashOf(text: string): string {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  if (hashes.size === MAX_TEXTS) hashes.clear();
  const made = hash('sha1', text);
  hashes.set(text, made);
  return made;
}

/**
 * A statement's name for people: the one it was given, such as `find_packets`; otherwise its verb, its first tables and
 * the beginning of the name under which it is prepared: `SELECT users, sessions 1f3a9c02`. Never a value.
 */
export function statementName({
  name,
  text = '',
}: {
  name?: string | undefined;
  text?: string | undefined;
}): string {
  if (name !== undefined && name !== '' && !HASHED.test(name)) return name;
  const begin = text.slice(0, MAX_SEARCHED);
  const [verb = 'statement'] = /[a-z]+/i.exec(begin) ?? [];
  const tables = [...begin.matchAll(TABLE)]
    .map(([, written, read]) => (written ?? (read as string)).toLowerCase())
    .filter(table => !['select', 'lateral', 'only', 'skip', 'set', 'unnest'].includes(table));
  const named = [...new Set(tables)].slice(0, MAX_TABLES).join(', ');
  return [verb.toUpperCase(), named, hashOf(text).slice(0, 8)].filter(Boolean).join(' ');
}
