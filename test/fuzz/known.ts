import type { Operation } from '../helpers/definition.ts';
import type { Known } from './texts.ts';
import type { WireAnswer } from './wire.ts';

/** Maximum texts that are kept for one name. */
const MOST = 20;
/** The names under which a member of an answer is sent again. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  packet_uuid: ['id', 'packet_id', 'cursor', 'prev'],
  thread_id: ['thread_id'],
  share_id: ['share_id'],
  attachment_id: ['id', 'attachments'],
  geoid: ['geoid', 'geoids'],
  next_cursor: ['cursor'],
  next_since: ['since'],
  since: ['since'],
  storageKey: ['storageKey'],
  uuid: ['uuid'],
  id: ['id'],
};

/** Texts of what exists in a service: those given, and what its answers name. */
export interface Knowledge {
  /** The values for an operation; ids of the things that its path names come first. */
  of(operation: Pick<Operation, 'path'>): Known;
  learn(operation: Pick<Operation, 'path'>, answer: WireAnswer): void;
}

export function knowledge(initial: Known): Knowledge {
  const known: Record<string, string[]> = {};
  const ids: Record<string, string[]> = {};
  for (const [name, texts] of Object.entries(initial)) known[name] = [...texts];
  const add = (to: Record<string, string[]>, name: string, text: string) => {
    const texts = to[name] ?? [];
    to[name] = texts;
    if (texts.includes(text)) return;
    texts.push(text);
    // What was given stays; of what was learnt the newest does.
    if (texts.length > MOST) texts.splice(to === known ? (initial[name]?.length ?? 0) : 0, 1);
  };
  const walk = (value: unknown, things: string, depth: number) => {
    if (typeof value !== 'object' || value === null || depth > 4) return;
    for (const [key, member] of Object.entries(value).slice(0, 30)) {
      const isText =
        typeof member === 'string' ? member !== '' && member.length < 300 : Number.isInteger(member);
      if (isText && Object.hasOwn(NAMES, key)) {
        for (const name of NAMES[key] ?? []) add(known, name, String(member));
      }
      if (isText && key === 'id') {
        add(ids, things, String(member));
        add(known, `${things}Id`, String(member));
      }
      walk(member, things, depth + 1);
    }
  };
  return {
    of({ path }) {
      const own = ids[thingsOf(path)];
      return own ? { ...known, id: own } : known;
    },
    learn({ path }, { status, type, headers, body }) {
      if (status >= 300) return;
      const upload = /^\/attachments\/uploads\/(.+)/.exec(headers.get('location') ?? '');
      if (upload) add(known, 'upload_id', upload[1] as string);
      if (type !== 'application/json' || body.length === 0 || body.length > 100_000) return;
      walk(JSON.parse(body.toString()), thingsOf(path), 0);
    },
  };
}

/** The subject of a path, from its last part that names things: product for /api/product/{id}. */
function thingsOf(path: string): string {
  const parts = path.split('/').filter(part => !/^(\{.*|api|admin|create|execute|list|profile|)$/.test(part));
  return parts.at(-1) ?? '';
}
