import { LRUCache } from 'lru-cache';
import { cellIndex, type Leaf } from '../../../geometry/cells.ts';
import type { Database } from '../../../platform/database/database.ts';
import { fieldsOfBlock } from './store.ts';
import { COVER_LEVELS, cellKey, keysInside } from './survey.ts';

/**
 * The levels of blocks, coarse to fine: about 36, 4.5 and 0.6 kilometres. Where few fields are, a coarse block holds
 * them all, so that a country needs some dozens.
 */
const BLOCK_LEVELS = [8, 11, 14];
/** Maximum pairs of cell and field per block; where there are more, finer blocks are read. */
const BLOCK_PAIRS = 2000;
/** Maximum pairs in memory; a block without any counts as some. */
const KEPT_PAIRS = 200_000;
const EMPTY_BLOCK = 10;
/** Maximum blocks that are read at the same time; more points are looked up together. */
const MAX_LOADS = 4;
/** How long nothing is kept after a change, in milliseconds: registrations often come one after the other. */
const UNSETTLED_MS = 1000;

/** The cells of one block that cover fields, with the GeoIDs of these. */
interface Block {
  /** undefined where there are too many */
  fields: ReadonlyMap<number, readonly string[]> | undefined;
  pairs: number;
}

/** The fields that cover a point's cells, as they were in a state. */
export interface Candidates {
  state: string;
  geoids: readonly string[];
}

/** Keeps parts of field_cells in memory, which hold as long as the state of the fields is the same. */
export interface FieldBlocks {
  /**
   * The fields whose cells a leaf is in.
   *
   * @returns undefined where they have to be looked up instead: after a change, or among very many fields
   */
  find(leaf: Leaf): Candidates | undefined | Promise<Candidates | undefined>;
  /** Forgets what is kept if it is of this state, which has ended. */
  outdated(state: string): void;
}

/** @param now a clock in milliseconds that is never set back */
export function fieldBlocks(database: Database, now: () => number = () => performance.now()): FieldBlocks {
  const blocks = new LRUCache<number, Block>({
    maxSize: KEPT_PAIRS,
    sizeCalculation: ({ pairs }) => EMPTY_BLOCK + pairs,
  });
  const loading = new Map<number, Promise<void>>();
  /** of all blocks that are kept */
  let state: string | undefined;
  let settledAt = 0;

  function outdated(ended: string): void {
    if (ended !== state) return;
    state = undefined;
    blocks.clear();
    settledAt = now() + UNSETTLED_MS;
  }

  async function load(key: number, leaf: Leaf, level: number): Promise<void> {
    const above = COVER_LEVELS.filter(coarser => coarser < level).map(coarser => keyAt(leaf, coarser));
    const inside = keysInside(cellIndex(leaf, level), level);
    const read = await fieldsOfBlock(database, { ...inside, above, limit: BLOCK_PAIRS });
    if (state !== undefined && read.state !== state) outdated(state);
    if (now() < settledAt) return;
    state = read.state;
    blocks.set(key, blockOf(read.pairs));
  }

  async function loadAndFind(key: number, leaf: Leaf, level: number): Promise<Candidates | undefined> {
    let loaded = loading.get(key);
    if (!loaded && loading.size >= MAX_LOADS) return undefined;
    if (!loaded) {
      loaded = load(key, leaf, level).finally(() => loading.delete(key));
      loading.set(key, loaded);
    }
    await loaded;
    return blocks.has(key) ? find(leaf) : undefined;
  }

  function find(leaf: Leaf): Candidates | undefined | Promise<Candidates | undefined> {
    if (now() < settledAt) return undefined;
    for (const level of BLOCK_LEVELS) {
      const key = keyAt(leaf, level);
      const block = blocks.get(key);
      if (!block) return loadAndFind(key, leaf, level);
      const { fields } = block;
      if (!fields) continue;
      const geoids = fields.size === 0 ? [] : keysOf(leaf).flatMap(cell => fields.get(cell) ?? []);
      return { state: state as string, geoids };
    }
    return undefined;
  }

  return { find, outdated };
}

/** The keys of the cells in which a field that contains the leaf may be listed. */
export function keysOf(leaf: Leaf): number[] {
  return COVER_LEVELS.map(level => keyAt(leaf, level));
}

function keyAt(leaf: Leaf, level: number): number {
  return cellKey(cellIndex(leaf, level), level);
}

function blockOf(pairs: readonly { cell: number; geoid: string }[] | undefined): Block {
  if (!pairs) return { fields: undefined, pairs: 0 };
  const fields = new Map<number, string[]>();
  for (const { cell, geoid } of pairs) {
    const listed = fields.get(cell);
    if (listed) listed.push(geoid);
    else fields.set(cell, [geoid]);
  }
  return { fields, pairs: pairs.length };
}
