import { Resource } from '../loading/resource.svelte.ts';
import { type Conflict, merged } from './merge.ts';

/** A request for a change of the version that was read; without a version, of any. */
export type VersionHeader = { 'if-match'?: string };

/**
 * A record in a form, which somebody else may change meanwhile: what was typed stays whenever it is loaded again, and it
 * is saved only if it is still the version that was loaded. Made in a component; it is loaded again when something
 * changes that `load` reads before its first `await`.
 */
export class EditedRecord<Data extends { version: string }, Form extends object> {
  form: Form;
  /** what is stored, with the version that the next change is of */
  readonly found: Resource<Data>;

  /** the form as it was loaded or sent: what differs from it was typed since */
  #before: Form;
  #version = '';
  readonly #load: (signal?: AbortSignal) => Promise<Data>;
  readonly #formOf: (data: Data) => Form;

  /**
   * @param empty the form until the record is loaded
   * @param load loads the version before everything else that the form shows, which is then not older; "" for a new
   *   record
   * @param formOf the form of what is stored
   */
  constructor(empty: Form, load: (signal?: AbortSignal) => Promise<Data>, formOf: (data: Data) => Form) {
    this.form = $state(empty);
    this.#before = empty;
    this.#load = load;
    this.#formOf = formOf;
    this.found = new Resource(async signal => {
      const data = await load(signal);
      this.#take(data);
      return data;
    });
  }

  /** The condition that nobody has changed the record since it was loaded. */
  get header(): VersionHeader {
    return this.#version === '' ? {} : { 'if-match': this.#version };
  }

  /** After one of several requests of a save: those that follow change the version that it has made. */
  advance(response: Response): void {
    this.#version = response.headers.get('etag') ?? this.#version;
  }

  /**
   * Saves the form, then loads what is stored.
   *
   * @param send sends what differs from the form as it was loaded, with the `header`
   * @throws Failure
   */
  async save(send: (form: Form, before: Form) => Promise<unknown>): Promise<void> {
    const sent = this.#snapshot();
    await send(sent, this.#before);
    this.#before = sent;
    await this.reload();
  }

  /**
   * Loads what is stored now, and keeps what was typed, also while it is loading.
   *
   * @returns what somebody else has changed as well
   * @throws Failure
   */
  readonly reload = async (): Promise<Conflict[]> => {
    const data = await this.#load();
    const conflicts = this.#take(data);
    this.found.data = data;
    return conflicts;
  };

  /** Puts the form back to what was loaded or sent last. */
  readonly discard = (): void => {
    this.form = structuredClone(this.#before);
  };

  #take(data: Data): Conflict[] {
    const stored = this.#formOf(data);
    const { form, conflicts } = merged(this.#before, this.#snapshot(), stored);
    this.form = form;
    this.#before = stored;
    this.#version = data.version;
    return conflicts;
  }

  #snapshot(): Form {
    return $state.snapshot(this.form) as Form;
  }
}
