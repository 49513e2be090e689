/**
 * What one request brings. Made in a component; it is loaded again when something changes that `load` reads before its
 * first `await`.
 */
export class Resource<Data> {
  data = $state.raw<Data | undefined>(undefined);
  failure = $state.raw<unknown>(undefined);

  readonly #load: (signal: AbortSignal) => Promise<Data>;
  #abort = new AbortController();

  constructor(load: (signal: AbortSignal) => Promise<Data>) {
    this.#load = load;
    $effect(() => {
      void this.reload();
      return () => this.#abort.abort();
    });
  }

  /** Loads it again; the data stay until the new ones are here. */
  async reload(): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    try {
      const data = await this.#load(signal);
      if (signal.aborted) return;
      this.data = data;
      this.failure = undefined;
    } catch (error) {
      if (!signal.aborted) this.failure = error;
    }
  }
}
