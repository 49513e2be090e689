/**
 * Every advisory lock of the product. PostgreSQL identifies them by 64-bit numbers per database. A number must not
 * change while processes of the previous version may be running.
 */
export const ADVISORY_LOCKS = {
  /** held by the process that makes role and database of an embedded server, in its control database */
  prepare: 1,
  /** held by the process that migrates */
  migrate: 7_104_915_203,
  /** held by the process that appends to the log */
  append: 7_104_915_204,
  /** held by the process that creates what exists once, such as signing keys */
  firstStart: 7_104_915_205,
  /** held while fields are registered */
  registration: 7_104_915_206,
  /** held by the command that erases a packet */
  erasure: 7_104_915_207,
  /** held while a file store is compared with the one that the database knows */
  fileStore: 7_104_915_208,
  /** held by the command that moves a database, in the database that it fills */
  move: 7_104_915_209,
  /** held while observations are counted for maps */
  tiles: 7_104_915_210,
  /** held by the command that distributes a database over several servers */
  distribute: 7_104_915_211,
} as const;

/** Prefixes of the texts whose hashes are lock numbers. */
export const HASHED_LOCKS = {
  /** the user of a contact, and shares with it */
  contact: 'contact ',
  /** whether a user of the packet service has sent a token */
  user: 'user ',
  /** what waits for one mail to an address */
  digest: 'digest ',
  /** the recent look-ups of a sender, and what they share */
  sender: 'sender ',
  /** the failed attempts to log in to an account */
  attempts: 'attempts ',
} as const;
