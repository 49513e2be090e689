import { getContext, setContext } from 'svelte';
import { place, setQuery } from '../../address/place.svelte.ts';

const KEY = Symbol('filters');

/** The filters of a bar, by their names in the query of the address. */
export class Filters {
  #names = $state.raw<readonly string[]>([]);

  /** How many filters there are. */
  get count(): number {
    return this.#names.length;
  }

  /** How many of them have a value. */
  get chosen(): number {
    return this.#names.filter(name => place.query.get(name)).length;
  }

  /**
   * Adds a filter.
   *
   * @returns what takes it away again
   */
  add(name: string): () => void {
    this.#names = [...this.#names, name];
    return () => {
      this.#names = this.#names.filter(other => other !== name);
    };
  }

  /** Removes the values of all filters; what else is in the address stays. */
  clear(): void {
    setQuery(Object.fromEntries(this.#names.map(name => [name, undefined])));
  }
}

/** Made by a bar, for the filters in it. */
export function offerFilters(): Filters {
  return setContext(KEY, new Filters());
}

/** Of the bar around a filter; undefined without one. */
export function filtersAround(): Filters | undefined {
  return getContext<Filters | undefined>(KEY);
}
