import { untrack } from 'svelte';

/** A page of rows, with what the next one begins after. */
export interface Page<Row> {
  rows: Row[];
  next: string | undefined;
}

export type LoadPage<Row> = (after: string | undefined, signal: AbortSignal) => Promise<Page<Row>>;

/** The page of a table: its rows, and whether there are more. */
export type Rows<Row> = Pick<Pages<Row>, 'rows' | 'isLoading' | 'failure' | 'hasMore' | 'reload' | 'more'>;

/** Rows that are all there. */
export function fixedRows<Row>(rows: readonly Row[]): Rows<Row> {
  const nothing = async () => {};
  return {
    rows: [...rows],
    isLoading: false,
    failure: undefined,
    hasMore: false,
    reload: nothing,
    more: nothing,
  };
}

/**
 * The rows of a list that is loaded page by page. Call it in a component: rows are loaded again when something changes
 * that `load` reads before its first `await`, such as the query; a request that is not needed any more is aborted. If
 * loading fails after such a change, the rows are removed: they belong to the query before.
 */
export class Pages<Row> {
  rows = $state.raw<Row[]>([]);
  next = $state.raw<string | undefined>(undefined);
  isLoading = $state(true);
  failure = $state.raw<unknown>(undefined);

  /** rows of the first page that have come since, as `look` found */
  newCount = $state(0);

  readonly #load: LoadPage<Row>;
  readonly #key: (row: Row) => unknown;
  #abort = new AbortController();
  /** aborted when the first page is loaded again */
  #list = new AbortController();
  #reading: Promise<void> = Promise.resolve();
  #newest: Page<Row> | undefined;

  /** @param key identifies a row, for lists that look for new ones */
  constructor(load: LoadPage<Row>, key: (row: Row) => unknown = row => row) {
    this.#load = load;
    this.#key = key;
    $effect(() => {
      void this.#readChanged();
      return () => {
        this.#abort.abort();
        this.#list.abort();
      };
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

  /** Asks for the first page again, and counts what is new on it. */
  async look(): Promise<void> {
    const { signal } = this.#list;
    await this.#reading;
    if (signal.aborted) return;
    const page = await this.#load(undefined, signal);
    if (signal.aborted) return;
    const shownKeys = new Set(this.rows.map(this.#key));
    this.#newest = page;
    this.newCount = page.rows.filter(row => !shownKeys.has(this.#key(row))).length;
  }

  /** Shows what `look` has found. */
  showNew(): void {
    const page = this.#newest;
    if (!page || this.newCount === 0) return;
    const fresh = new Set(page.rows.map(this.#key));
    const others = this.rows.filter(row => !fresh.has(this.#key(row)));
    const isGap = others.length === this.rows.length;
    this.rows = isGap ? page.rows : [...page.rows, ...others];
    if (isGap) this.next = page.next;
    this.newCount = 0;
  }

  async #readChanged(): Promise<void> {
    const reading = this.#read(undefined);
    const { signal } = this.#abort;
    await reading;
    if (signal.aborted || this.failure === undefined) return;
    this.rows = [];
    this.next = undefined;
  }

  #read(after: string | undefined): Promise<void> {
    this.#reading = this.#readPage(after);
    return this.#reading;
  }

  async #readPage(after: string | undefined): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    if (after === undefined) {
      this.#list.abort();
      this.#list = new AbortController();
      this.newCount = 0;
    }
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
