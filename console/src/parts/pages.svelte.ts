import { untrack } from 'svelte';

/** A page of rows, with what the next one begins after. */
export interface Page<Row> {
  rows: Row[];
  next: string | undefined;
}

export type LoadPage<Row> = (after: string | undefined, signal: AbortSignal) => Promise<Page<Row>>;

/**
 * The rows of a list that is loaded page by page. Call it in a component: rows are loaded again when something changes
 * that `load` reads before its first `await`, such as the query; a request that is not needed any more is aborted.
 */
export class Pages<Row> {
  rows = $state.raw<Row[]>([]);
  next = $state.raw<string | undefined>(undefined);
  isLoading = $state(true);
  failure = $state.raw<unknown>(undefined);

  readonly #load: LoadPage<Row>;
  #abort = new AbortController();

  constructor(load: LoadPage<Row>) {
    this.#load = load;
    $effect(() => {
      void this.#read(undefined);
      return () => this.#abort.abort();
    });
  }

  /** Whether there is a next page. */
  get hasMore(): boolean {
    return this.next !== undefined;
  }

  /** Loads the next page. */
  async more(): Promise<void> {
    if (this.hasMore && !this.isLoading) await this.#read(this.next);
  }

  /** Loads the first page again; the rows stay until it is there. */
  async reload(): Promise<void> {
    await this.#read(undefined);
  }

  async #read(after: string | undefined): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const loading = this.#load(after, signal);
    untrack(() => {
      this.isLoading = true;
      this.failure = undefined;
    });
    try {
      const { rows, next } = await loading;
      if (signal.aborted) return;
      this.rows = after === undefined ? rows : [...this.rows, ...rows];
      this.next = next;
    } catch (error) {
      if (signal.aborted) return;
      this.failure = error;
    }
    this.isLoading = false;
  }
}
