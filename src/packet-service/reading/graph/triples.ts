import { parseTimestamp } from '../../../platform/time.ts';

/** The predicates of the graph; docs/guides/graph.md and GET /vocab explain them. */
export const PREDICATES = [
  'rdf:type',
  'packet:type',
  'packet:geoid',
  'packet:timestamp',
  'packet:prev',
  'packet:thread',
  'packet:sender',
  'packet:attachment',
] as const;
export type Predicate = (typeof PREDICATES)[number];

/** A row of the export: a packet, or one of its additional GeoIDs. */
export interface GraphRow {
  /** the stored Header */
  header: string;
  /** ULID; null outside chat */
  thread: string | null;
  /** the stored Body; null when nothing in it becomes a triple */
  body: string | null;
  /** the user of the token that the packet came with */
  author: string | null;
  /** an additional GeoID: then the row has nothing else */
  additionalGeoid: string | null;
}

/** Writes one triple as a line of text, its line break included. */
export type TripleWriter = (subject: string, predicate: Predicate, object: string) => string;

/** The triples of a row, one a line. */
export function writeTriples(
  { header, thread, body, author, additionalGeoid: further }: GraphRow,
  write: TripleWriter,
): string {
  const { id, geoid, timestamp, type, prev } = JSON.parse(header) as Record<string, string>;
  const subject = id as string;
  if (further !== null) return write(subject, 'packet:geoid', further);
  let text = write(subject, 'rdf:type', 'Packet') + write(subject, 'packet:type', type as string);
  if (geoid) text += write(subject, 'packet:geoid', geoid);
  text += write(subject, 'packet:timestamp', timestamp as string);
  if (typeof prev === 'string') text += write(subject, 'packet:prev', prev);
  if (thread !== null) text += write(subject, 'packet:thread', thread);
  const { from_user, attachments } = (body === null ? {} : JSON.parse(body)) as Record<string, unknown>;
  const sender = author ?? (thread === null ? undefined : from_user);
  if (typeof sender === 'string' && sender !== '') text += write(subject, 'packet:sender', sender);
  for (const reference of referencesOf(attachments)) text += write(subject, 'packet:attachment', reference);
  return text;
}

/** The names of attachments: a string as is, an object by its `id` or, without one, its `url`. */
function referencesOf(attachments: unknown): string[] {
  if (!Array.isArray(attachments)) return [];
  const names = attachments.map(item =>
    item !== null && typeof item === 'object' ? (item.id ?? item.url) : item,
  );
  return [...new Set(names.filter(name => typeof name === 'string' && name !== ''))];
}

/** A triple as in the interface document: one object per line, every value a string. */
export function asNdjson(subject: string, predicate: Predicate, object: string): string {
  return `{"subject":"${subject}","predicate":"${predicate}","object":${JSON.stringify(object)}}\n`;
}

/** The namespace of the vocabulary. */
export const VOCABULARY = 'urn:fieldtrace:vocabulary:';
const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const XSD_DATE_TIME = 'http://www.w3.org/2001/XMLSchema#dateTime';

/** A triple as a line of N-Triples (W3C recommendation of 2014, grammar in §7). */
export function asNTriples(subject: string, predicate: Predicate, object: string): string {
  const name = predicate === 'rdf:type' ? RDF_TYPE : VOCABULARY + predicate.slice('packet:'.length);
  return `<urn:fieldtrace:packet:${subject}> <${name}> ${objectTerm(predicate, object)} .\n`;
}

function objectTerm(predicate: Predicate, object: string): string {
  switch (predicate) {
    case 'rdf:type':
      return `<${VOCABULARY}${object}>`;
    case 'packet:type':
      return literal(object);
    case 'packet:geoid':
      return named('geoid', object);
    case 'packet:timestamp':
      return `"${dateTime(object)}"^^<${XSD_DATE_TIME}>`;
    case 'packet:prev':
      return named('packet', object);
    case 'packet:thread':
      return named('thread', object);
    case 'packet:sender':
      return named('user', object);
    case 'packet:attachment':
      return object.startsWith('att_') ? named('attachment', object) : literal(object);
  }
}

/** An IRI of ours. Everything but what RFC 3986 §2.3 calls unreserved is percent-encoded, as UTF-8. */
function named(kind: string, name: string): string {
  return `<urn:fieldtrace:${kind}:${encodeURIComponent(name).replace(/[!'()*]/g, percent)}>`;
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

const ESCAPES: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r' };

function literal(text: string): string {
  return `"${text.replace(/["\\\n\r]/g, character => ESCAPES[character] as string)}"`;
}

const XSD = /^-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** A timestamp as XML Schema writes one; ISO 8601 allows more, which becomes the same moment in UTC. */
function dateTime(timestamp: string): string {
  return XSD.test(timestamp) ? timestamp : (parseTimestamp(timestamp)?.utc ?? timestamp);
}
