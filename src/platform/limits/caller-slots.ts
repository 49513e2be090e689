import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { endsWithin } from '../concurrency/ends-within.ts';
import type { Database } from '../database/database.ts';
import { passingTrouble } from '../database/troubles.ts';
import {
  freeSlot,
  insertProcess,
  removeDead,
  removeProcess,
  renewProcess,
  takeSlot,
} from './caller-slots-store.ts';

/** How often a process renews its lease, in milliseconds: three times within it. */
const BEAT_MS = 3000;
/** Longest wait of a request for the database before its slot counts in this process alone, in milliseconds. */
const PATIENCE_MS = 2000;

/**
 * How many of something each caller has at the same time, over all processes on one database. While the database does
 * not answer or takes no writes, each process counts by itself.
 */
export interface CallerSlots {
  /**
   * @param kind what it is: "uploads"
   * @param most slots of the caller
   * @returns a function that frees the slot; undefined if the caller has `most`
   */
  take(kind: string, caller: string, most: number): Promise<(() => void) | undefined>;
  /** Removes this process from the database; later slots count in this process alone. */
  stop(): Promise<void>;
}

interface Slot {
  kind: string;
  caller: string;
  most: number;
  /** its number in the database; undefined if it has no row there yet, and needs one */
  number: number | 'requested' | undefined;
}

/** The slots of this process' callers; `database` has the tables `serving_processes` and `caller_places`. */
export function openCallerSlots(database: Database, logger: FastifyBaseLogger): CallerSlots {
  return new CountedSlots(database, logger);
}

class CountedSlots implements CallerSlots {
  readonly #database: Database;
  readonly #logger: FastifyBaseLogger;
  readonly #held = new Set<Slot>();
  /** slots in this process, by kind and caller */
  readonly #counts = new Map<string, number>();
  /** rows that are being removed, by kind and caller: a caller who ends one and begins the next at once gets its slot */
  readonly #freeing = new Map<string, Promise<void>>();
  /** under which this process has its rows; undefined while the database does not count them */
  #id: string | undefined;
  #earlier: string | undefined;
  #isReported = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  #first: Promise<void> | undefined;
  #beating: Promise<void> | undefined;

  constructor(database: Database, logger: FastifyBaseLogger) {
    this.#database = database;
    this.#logger = logger;
  }

  async take(kind: string, caller: string, most: number): Promise<(() => void) | undefined> {
    const slot: Slot = { kind, caller, most, number: 'requested' };
    const key = keyOf(slot);
    const count = this.#counts.get(key) ?? 0;
    if (count >= most) return undefined;
    this.#counts.set(key, count + 1);
    this.#held.add(slot);
    try {
      if (!this.#isStopped) await endsWithin(this.#begin(), PATIENCE_MS);
      const freeing = this.#freeing.get(key);
      if (freeing) await endsWithin(freeing, PATIENCE_MS);
      if (await this.#takeInDatabase(slot)) return () => this.#release(slot);
    } catch (error) {
      this.#release(slot);
      throw error;
    }
    this.#release(slot);
    return undefined;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#beating;
    const id = this.#id;
    this.#id = undefined;
    // What cannot be removed now expires.
    if (id) await removeProcess(this.#database, id).catch(() => {});
  }

  #begin(): Promise<void> {
    this.#timer ??= setInterval(() => this.#tick(), BEAT_MS).unref();
    this.#first ??= this.#tick();
    return this.#first;
  }

  #tick(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async #beat(): Promise<void> {
    try {
      if (this.#id === undefined || !(await renewProcess(this.#database, this.#id))) await this.#record();
      await removeDead(this.#database);
      for (const slot of this.#held) {
        if (slot.number === undefined && !this.#isStopped) await this.#takeInDatabase(slot);
      }
    } catch (error) {
      this.#lost(error);
    }
  }

  /** Records this process under a new id. Its slots are then taken again. */
  async #record(): Promise<void> {
    const id = randomUUID();
    await insertProcess(this.#database, id, this.#id ?? this.#earlier);
    // Requests in flight see that the id has changed.
    for (const slot of this.#held) if (slot.number !== 'requested') slot.number = undefined;
    this.#id = id;
    if (this.#isReported) this.#logger.info('limits per caller hold over all processes again');
    this.#isReported = false;
  }

  /** Takes a slot in the database, if it counts them now; returns false if all slots of the caller are taken. */
  async #takeInDatabase(slot: Slot): Promise<boolean> {
    const id = this.#id;
    slot.number = id === undefined ? undefined : 'requested';
    if (id === undefined) return true;
    const taking = takeSlot(this.#database, slot, id);
    if (!(await endsWithin(taking, PATIENCE_MS))) this.#lost(new Error(`no answer within ${PATIENCE_MS} ms`));
    const taken = this.#id === id ? await taking.catch(error => this.#ifPassing(error)) : undefined;
    const isCurrent = this.#id === id;
    slot.number = isCurrent ? taken : undefined;
    if (!this.#held.has(slot)) this.#free(slot);
    return taken !== undefined || !isCurrent;
  }

  #ifPassing(error: unknown): undefined {
    if (!passingTrouble(error)) throw error;
    this.#lost(error);
  }

  /**
   * Counts in this process alone until the next beat succeeds. That takes a new id, so that rows of which nothing is
   * known are removed with the old one.
   */
  #lost(error: unknown): void {
    if (!this.#isReported)
      this.#logger.warn({ err: error }, 'limits per caller hold in this process alone for now');
    this.#isReported = true;
    this.#earlier = this.#id ?? this.#earlier;
    this.#id = undefined;
  }

  #release(slot: Slot): void {
    if (!this.#held.delete(slot)) return;
    const key = keyOf(slot);
    const left = (this.#counts.get(key) ?? 0) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
    this.#free(slot);
  }

  #free(slot: Slot): void {
    const { kind, caller, number } = slot;
    if (typeof number !== 'number' || this.#id === undefined) return;
    const key = keyOf(slot);
    const before = this.#freeing.get(key);
    const freed = freeSlot(this.#database, { kind, caller, number }, this.#id).catch(error =>
      this.#lost(error),
    );
    const freeing = Promise.all([before, freed]).then(() => {
      if (this.#freeing.get(key) === freeing) this.#freeing.delete(key);
    });
    this.#freeing.set(key, freeing);
  }
}

function keyOf({ kind, caller }: Slot): string {
  return `${kind} ${caller}`;
}
