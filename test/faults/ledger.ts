/** The subject of a fact: a kind of record. */
export type Kind =
  | 'packet'
  | 'thread'
  | 'share'
  | 'directory'
  | 'field'
  | 'attachment'
  | 'upload'
  | 'user'
  | 'session'
  | 'key'
  | 'factor'
  | 'company'
  | 'member'
  | 'product'
  | 'label'
  | 'batch'
  | 'currency'
  | 'rate'
  | 'code'
  | 'value-chain'
  | 'setting'
  | 'label-requests'
  | 'file';

/** The state of what is not there. */
export const ABSENT = 'absent';

/**
 * The answers that a client got about one record, which nobody else writes. Each state is begun when a request is
 * sent that would bring it about, and acknowledged when that is answered: the record may be in the state acknowledged
 * last or in any that was begun after it, and in no other.
 */
export interface Fact {
  kind: Kind;
  /** as the database has it */
  id: string;
  /** in the order in which they were begun */
  states: string[];
  /** which of the states was acknowledged last */
  acknowledged: number;
  /** of the bytes of a file, in hexadecimal */
  sha256?: string;
}

/** The expectation of a fact, taken before the database is read. */
export interface Claim {
  fact: Fact;
  from: number;
}

/** All that was acknowledged. */
export interface Ledger {
  /** Notes a record as it was acknowledged. */
  add(kind: Kind, id: string, state: string, sha256?: string): Fact;
  /** The acknowledged facts of all records, or of those with new acknowledgements since the last call. */
  claims(which: 'all' | 'latest'): Claim[];
  /** Notes that a fact's newest state was acknowledged. */
  acknowledge(fact: Fact): void;
  /** Notes a mail that was promised to an address. */
  promiseMail(address: string): void;
  readonly promisedMails: readonly string[];
}

export function openLedger(): Ledger {
  const facts: Fact[] = [];
  const promisedMails: string[] = [];
  let latest = new Set<Fact>();
  return {
    add(kind, id, state, sha256) {
      const fact: Fact = { kind, id, states: [state], acknowledged: 0, ...(sha256 && { sha256 }) };
      facts.push(fact);
      latest.add(fact);
      return fact;
    },
    claims(which) {
      const taken = which === 'all' ? facts : [...latest];
      latest = new Set();
      return taken.map(fact => ({ fact, from: fact.acknowledged }));
    },
    acknowledge(fact) {
      fact.acknowledged = fact.states.length - 1;
      latest.add(fact);
    },
    promiseMail: address => void promisedMails.push(address),
    promisedMails,
  };
}

/** The states that a record may be in, the one acknowledged last first. */
export function allowedStates({ fact, from }: Claim): string[] {
  return fact.states.slice(from);
}
