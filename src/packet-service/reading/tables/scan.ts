const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** A member of an object, and the members of its own value where that is an object too. */
export interface Field {
  /** its path: names joined by dots */
  name: string;
  /** index of its column; -1 if it has none */
  column: number;
  /** whether members of its value have columns; such a value has none itself, unless it is empty */
  hasInner: boolean;
  /** its key as in the text, UTF-8 without quotes */
  key: Buffer;
  inner: Map<string, Field>;
  /** the member that its value began with last time */
  first: Field | undefined;
  /** the member that followed it last time */
  next: Field | undefined;
}

/** How to treat a field that is met for the first time. */
export type DescribeField = (name: string) => Pick<Field, 'column' | 'hasInner'>;
/** A text: a field whose members are named by a function. */
export interface Root extends Field {
  nameMember: (key: string) => string;
}
/** Is given a value: its field, and where it is in the text. */
export type ReadValue = (field: Field, start: number, end: number) => void;

/** Maximum fields that are remembered; further ones are described each time. */
const MAX_KNOWN_FIELDS = 20_000;

/** @param nameMember gives the members of the text their names */
export function rootField(nameMember: (key: string) => string): Root {
  return { ...fieldOf('', Buffer.alloc(0), { column: -1, hasInner: true }), nameMember };
}

function fieldOf(name: string, key: Buffer, about: Pick<Field, 'column' | 'hasInner'>): Field {
  return { name, key, ...about, inner: new Map(), first: undefined, next: undefined };
}

/**
 * A reader of canonical JSON (RFC 8785: no white space, sorted keys) that finds values without parsing or copying them,
 * because parsing each packet into objects would be most of the work of an export. As most packets have the same fields
 * in the same order, it compares the next key with the one that followed last time before it looks it up.
 *
 * @param describe called once per field (and again for rare ones)
 * @param read gets the value of each field that has a column: anything but an object, an empty object, or an object
 *   whose members have no columns
 * @returns a function that reads the object at an offset of a text and returns the offset after it
 */
export function fieldScanner(
  describe: DescribeField,
  read: ReadValue,
): (bytes: Buffer, start: number, root: Root) => number {
  let bytes: Buffer = Buffer.alloc(0);
  let root: Root;
  let known = 0;

  function scanObject(start: number, parent: Field): number {
    let at = start + 1;
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    let previous: Field | undefined;
    for (;;) {
      let field = previous === undefined ? parent.first : previous.next;
      const keyStart = at + 1;
      if (field !== undefined && isKey(bytes, keyStart, field.key)) {
        at = keyStart + field.key.length;
      } else {
        at = endOfString(bytes, keyStart);
        field = find(parent, keyStart, at);
        if (previous === undefined) parent.first = field;
        else previous.next = field;
      }
      at = scanValue(at + 2, field);
      previous = field;
      const next = bytes[at];
      if (next === CLOSE_BRACE) return at + 1;
      if (next !== COMMA) throw new Error('a stored text is not canonical JSON');
      at++;
    }
  }

  function scanValue(start: number, field: Field): number {
    if (bytes[start] === OPEN_BRACE && field.hasInner && bytes[start + 1] !== CLOSE_BRACE) {
      return scanObject(start, field);
    }
    const end = endOfValue(bytes, start);
    if (field.column >= 0) read(field, start, end);
    return end;
  }

  function find(parent: Field, start: number, end: number): Field {
    const key = bytes.toString('latin1', start, end);
    const inner = parent.inner.get(key);
    if (inner) return inner;
    const member: string = JSON.parse(`"${bytes.toString('utf8', start, end)}"`);
    const name = parent === root ? root.nameMember(member) : `${parent.name}.${member}`;
    const field = fieldOf(name, Buffer.from(bytes.subarray(start, end)), describe(name));
    if (known < MAX_KNOWN_FIELDS) {
      known++;
      parent.inner.set(key, field);
    }
    return field;
  }

  return (text, start, itsRoot) => {
    bytes = text;
    root = itsRoot;
    return scanObject(start, root);
  };
}

/** Whether a key and its closing quote are at an offset. */
function isKey(bytes: Buffer, start: number, key: Buffer): boolean {
  const { length } = key;
  if (bytes[start + length] !== QUOTE) return false;
  for (let at = 0; at < length; at++) if (bytes[start + at] !== key[at]) return false;
  return true;
}

/** The offset of the quote that ends a string. */
function endOfString(bytes: Buffer, start: number): number {
  const { length } = bytes;
  for (let at = start; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  throw new Error('a stored text ends within a string');
}

/** The offset after a value of any kind. */
function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return endOfString(bytes, start + 1) + 1;
  const { length } = bytes;
  let depth = 0;
  for (let at = start; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  throw new Error('a stored text ends within a value');
}
