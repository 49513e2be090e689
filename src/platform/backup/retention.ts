import type { Base } from './base.ts';
import { readBase, readCatalogue, timeOfId } from './catalogue.ts';
import { objectOf, readFileIndex } from './files.ts';
import type { Vault } from './objects/vault.ts';
import { isBefore } from './segments.ts';

const DAY_MS = 24 * 3600 * 1000;

/**
 * Removes what no restore to a time within the last days needs: base backups older than the newest one that is older
 * than that, and then the log, the blocks and the files that no remaining base backup needs. A base backup's
 * description goes first, so that a kill never leaves one whose parts are missing. The caller holds the lock of base
 * backups, since one under way uses blocks that no description names yet.
 *
 * @returns how many objects were removed
 */
export async function expire(vault: Vault, keepDays: number, now: Date): Promise<number> {
  const catalogue = await readCatalogue(vault);
  const { kept, old } = split(catalogue.bases, new Date(now.getTime() - keepDays * DAY_MS));
  await vault.remove(old.map(id => `bases/${id}`));
  const bases: Base[] = [];
  for (const id of kept) bases.push(await readBase(vault, id));
  const [first] = bases;
  if (!first) return old.length;

  const needless: string[] = [];
  const starts = bases.flatMap(({ cluster }) => cluster?.startSegment ?? []);
  const earliest = starts.reduce((least, start) => (isBefore(start, least) ? start : least), starts[0] ?? '');
  for (const segment of catalogue.segments.keys()) {
    if (earliest && isBefore(segment, earliest)) needless.push(`wal/${segment}`);
  }
  const blocks = new Set(
    bases.flatMap(({ cluster }) =>
      (cluster?.files ?? []).flatMap(({ parts }) => parts.map(part => part.block)),
    ),
  );
  for await (const { name } of vault.list('blocks/')) {
    if (!blocks.has(name.slice('blocks/'.length))) needless.push(name);
  }
  needless.push(...(await forgottenFiles(vault, new Date(first.startedAt))));
  for await (const { name, modified } of vault.list('verified/')) {
    if (now.getTime() - modified.getTime() > keepDays * DAY_MS) needless.push(name);
  }
  await vault.remove(needless);
  return old.length + needless.length;
}

/** Which base backups are kept: those since `since`, and the newest before. */
function split(ids: readonly string[], since: Date): { kept: string[]; old: string[] } {
  const before = ids.filter(id => timeOfId(id) < since);
  const old = before.slice(0, -1);
  return { old, kept: ids.filter(id => !old.includes(id)) };
}

/** The objects of files that were gone from the store before a time, and the notes of it. */
async function forgottenFiles(vault: Vault, since: Date): Promise<string[]> {
  const index = await readFileIndex(vault);
  const names: string[] = [];
  for (const [file, at] of index.gone) {
    if (at >= since) continue;
    const { there = new Set<number>(), of = 0 } = index.parts.get(file) ?? {};
    names.push(...[...there].map(part => objectOf(file, part, of)), `gone/${file}`);
  }
  return names;
}
