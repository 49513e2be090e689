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
} from './places-store.ts';

/** How often a process says that it is alive, in milliseconds: three times within its lease. */
const BEAT_MS = 3000;
/** Longest that a request waits for its place before it counts in this process alone, in milliseconds. */
const PATIENCE_MS = 2000;

/**
 * How many of something each caller has at the same time, over all processes on one database. While the database does
 * not answer or takes no writes, each process counts by itself.
 */
export interface Places {
  /**
   * @param kind what it is: "uploads"
   * @param most places of the caller
   * @returns a function that frees the place; undefined if the caller has `most`
   */
  take(kind: string, caller: string, most: number): Promise<(() => void) | undefined>;
  /** Removes this process from the database; later places count in this process alone. */
  stop(): Promise<void>;
}

interface Place {
  kind: string;
  caller: string;
  most: number;
  /** its row in the database; undefined if it has none yet, and needs one */
  slot: number | 'asked' | undefined;
}

/** The places of this process' callers; `database` has the tables `serving_processes` and `caller_places`. */
export function openPlaces(database: Database, logger: FastifyBaseLogger): Places {
  return new CountedPlaces(database, logger);
}

class CountedPlaces implements Places {
  readonly #database: Database;
  readonly #logger: FastifyBaseLogger;
  readonly #held = new Set<Place>();
  /** places in this process, by kind and caller */
  readonly #counts = new Map<string, number>();
  /** rows that are being removed, by kind and caller: who ends something and begins the next at once has a place */
  readonly #freeing = new Map<string, Promise<void>>();
  /** under which this process has its rows; undefined while the database does not count them */
  #id: string | undefined;
  #earlier: string | undefined;
  #isTold = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  #first: Promise<void> | undefined;
  #beating: Promise<void> | undefined;

  constructor(database: Database, logger: FastifyBaseLogger) {
    this.#database = database;
    this.#logger = logger;
  }

  async take(kind: string, caller: string, most: number): Promise<(() => void) | undefined> {
    const place: Place = { kind, caller, most, slot: 'asked' };
    const key = keyOf(place);
    const count = this.#counts.get(key) ?? 0;
    if (count >= most) return undefined;
    this.#counts.set(key, count + 1);
    this.#held.add(place);
    try {
      if (!this.#isStopped) await endsWithin(this.#begin(), PATIENCE_MS);
      const freeing = this.#freeing.get(key);
      if (freeing) await endsWithin(freeing, PATIENCE_MS);
      if (await this.#ask(place)) return () => this.#release(place);
    } catch (error) {
      this.#release(place);
      throw error;
    }
    this.#release(place);
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
      for (const place of this.#held) {
        if (place.slot === undefined && !this.#isStopped) await this.#ask(place);
      }
    } catch (error) {
      this.#lost(error);
    }
  }

  /** Records this process under a new id. Its places are then taken again. */
  async #record(): Promise<void> {
    const id = randomUUID();
    await insertProcess(this.#database, id, this.#id ?? this.#earlier);
    // What is being asked for finds that the id has changed.
    for (const place of this.#held) if (place.slot !== 'asked') place.slot = undefined;
    this.#id = id;
    if (this.#isTold) this.#logger.info('limits per caller hold over all processes again');
    this.#isTold = false;
  }

  /** Takes a place in the database, if it counts them now; returns false if all of the caller's are taken. */
  async #ask(place: Place): Promise<boolean> {
    const id = this.#id;
    place.slot = id === undefined ? undefined : 'asked';
    if (id === undefined) return true;
    const asked = takeSlot(this.#database, place, id);
    if (!(await endsWithin(asked, PATIENCE_MS))) this.#lost(new Error(`no answer within ${PATIENCE_MS} ms`));
    const slot = this.#id === id ? await asked.catch(error => this.#ifPassing(error)) : undefined;
    const isCurrent = this.#id === id;
    place.slot = isCurrent ? slot : undefined;
    if (!this.#held.has(place)) this.#free(place);
    return slot !== undefined || !isCurrent;
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
    if (!this.#isTold)
      this.#logger.warn({ err: error }, 'limits per caller hold in this process alone for now');
    this.#isTold = true;
    this.#earlier = this.#id ?? this.#earlier;
    this.#id = undefined;
  }

  #release(place: Place): void {
    if (!this.#held.delete(place)) return;
    const key = keyOf(place);
    const left = (this.#counts.get(key) ?? 0) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
    this.#free(place);
  }

  #free(place: Place): void {
    const { kind, caller, slot } = place;
    if (typeof slot !== 'number' || this.#id === undefined) return;
    const key = keyOf(place);
    const before = this.#freeing.get(key);
    const freed = freeSlot(this.#database, { kind, caller, slot }, this.#id).catch(error =>
      this.#lost(error),
    );
    const freeing = Promise.all([before, freed]).then(() => {
      if (this.#freeing.get(key) === freeing) this.#freeing.delete(key);
    });
    this.#freeing.set(key, freeing);
  }
}

function keyOf({ kind, caller }: Place): string {
  return `${kind} ${caller}`;
}
