/**
 * Every advisory lock of the product: PostgreSQL knows them by 64-bit numbers, one space for a whole database. A number
 * never changes while processes of the version before may run beside.
 */
export const ADVISORY_LOCKS = {
  /** held by the process that makes role and database of an embedded server, in its control database */
  prepare: 1,
  /** held by the process that migrates */
  migrate: 7_104_915_203,
  /** held by the process that appends to the log */
  append: 7_104_915_204,
  /** held by the process that makes what is made once for all, such as signing keys */
  firstStart: 7_104_915_205,
  /** held while fields are registered */
  registration: 7_104_915_206,
  /** held by the command that erases a packet */
  erasure: 7_104_915_207,
  /** held while a file store is compared with the one that the database knows */
  fileStore: 7_104_915_208,
  /** held by the command that moves a database, in the database that it fills */
  move: 7_104_915_209,
} as const;

/** Locks that are numbered by the hash of a text: what their texts begin with. */
export const HASHED_LOCKS = {
  /** whom a contact belongs to, and what is shared with it */
  contact: 'contact ',
  /** what a sender has asked about lately */
  sender: 'sender ',
  /** the failed attempts to log in to an account */
  attempts: 'attempts ',
} as const;
