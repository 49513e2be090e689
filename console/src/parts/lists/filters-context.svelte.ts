import { getContext, setContext } from 'svelte';
import { location, setQuery } from '../../address/location.svelte.ts';

const KEY = Symbol('filters');

/** A filter of a bar: its name in the query of the address, and what is typed or chosen. */
export interface BarFilter {
  name: string;
  value: () => string;
  clear: () => void;
}

/** The filters of a bar. */
export class Filters {
  #all = $state.raw<readonly BarFilter[]>([]);

  /** How many filters there are. */
  get count(): number {
    return this.#all.length;
  }

  /** How many of them have a value in the address. */
  get chosen(): number {
    return this.#all.filter(({ name }) => location.query.get(name)).length;
  }

  /**
   * Adds a filter.
   *
   * @returns what takes it away again
   */
  add(filter: BarFilter): () => void {
    this.#all = [...this.#all, filter];
    return () => {
      this.#all = this.#all.filter(other => other !== filter);
    };
  }

  /** Applies all that is typed and chosen, so that choosing one filter does not lose what is typed into another. */
  apply(): void {
    setQuery(Object.fromEntries(this.#all.map(({ name, value }) => [name, value()])));
  }

  /** Removes the values of all filters; what else is in the address stays. */
  clear(): void {
    for (const filter of this.#all) filter.clear();
    setQuery(Object.fromEntries(this.#all.map(({ name }) => [name, undefined])));
  }
}

/** Made by a bar, for the filters in it. */
export function offerFilters(): Filters {
  return setContext(KEY, new Filters());
}

/** The context of the bar around a filter; undefined without one. */
export function filtersAround(): Filters | undefined {
  return getContext<Filters | undefined>(KEY);
}
