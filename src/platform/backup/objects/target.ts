/** An object of a backup. */
export interface Listed {
  name: string;
  bytes: number;
  /** when it was written, by the clock of the target */
  modified: Date;
}

/**
 * The location of backups: a folder, or a prefix in an S3 bucket. Names are ours: segments of letters, digits, `-`, `_` and
 * `.`, joined by /. Every function throws while the target cannot be reached or is full.
 */
export interface BackupTarget {
  /** in words for an operator */
  readonly location: string;
  /** Writes an object as a whole, or not at all. One that exists is never overwritten. */
  put(name: string, bytes: Uint8Array): Promise<'stored' | 'exists'>;
  /** undefined if the object does not exist */
  get(name: string): Promise<Uint8Array | undefined>;
  /** The objects whose names begin with `prefix`, which ends with / or is empty; in any order. */
  list(prefix: string): AsyncIterable<Listed>;
  /** The names directly below `prefix`, such as the instances below the empty one. */
  folders(prefix: string): Promise<string[]>;
  remove(names: readonly string[]): Promise<void>;
}
