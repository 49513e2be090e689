import type { Base } from './base.ts';
import type { Listed } from './objects/target.ts';
import type { Vault } from './objects/vault.ts';
import { contiguousFrom, SEGMENT } from './segments.ts';

/** Contents of a target for one instance. */
export interface Catalogue {
  /** ids of base backups, the oldest first */
  bases: string[];
  /** segments of the log by name */
  segments: Map<string, Listed>;
  /** the last time that a backup was verified, ISO 8601 */
  verified: string | undefined;
}

/** When a base backup began, from its id. */
export function timeOfId(id: string): Date {
  return new Date(id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/, '$1-$2-$3T$4:$5:$6.$7Z'));
}

export async function readCatalogue(vault: Vault): Promise<Catalogue> {
  const bases: string[] = [];
  for await (const { name } of vault.list('bases/')) bases.push(name.slice('bases/'.length));
  const segments = new Map<string, Listed>();
  for await (const listed of vault.list('wal/')) {
    const name = listed.name.slice('wal/'.length);
    if (SEGMENT.test(name)) segments.set(name, listed);
  }
  let verified: string | undefined;
  for await (const { modified } of vault.list('verified/')) {
    const at = modified.toISOString();
    if (verified === undefined || at > verified) verified = at;
  }
  return { bases: bases.sort(), segments, verified };
}

/** @throws DamagedError */
export async function readBase(vault: Vault, id: string): Promise<Base> {
  return JSON.parse((await vault.get(`bases/${id}`)).toString());
}

/** The segments from the start of a base backup to the end, or to the first that is missing. */
export function walOf(base: Base, { segments }: Catalogue): string[] {
  return base.cluster ? contiguousFrom(base.cluster.startSegment, name => segments.has(name)) : [];
}

/** The time up to which a base backup can be restored: when its last segment was shipped, or its own end. */
export function reachOf(base: Base, catalogue: Catalogue): Date {
  const last = walOf(base, catalogue).at(-1);
  return (last && catalogue.segments.get(last)?.modified) || new Date(base.endedAt);
}
