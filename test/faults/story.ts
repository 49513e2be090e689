import { eventually } from '../helpers/eventually.ts';
import { tokenIn } from '../helpers/mail-server.ts';
import type { Answer } from '../helpers/service.ts';
import { type Client, type Request, Unknown } from './client.ts';
import type { Fact, Ledger } from './ledger.ts';
import type { Mailbox } from './mailbox.ts';
import type { Person, World } from './world.ts';

/** Longest that a story waits for a mail, in milliseconds; whether it comes at all is looked at when all is over. */
const MAIL_MS = 60_000;

/** The context of one story. Each story has records of its own. */
export interface Teller {
  /** unique text, by which a second copy of what was sent is found */
  mark: string;
  /** number of the story */
  n: number;
  world: World;
  send: Client['send'];
  read: Client['read'];
  /** Notes a record that was acknowledged. */
  made: Ledger['add'];
  /** Sends what brings a record into another state, and notes that. */
  change(fact: Fact, state: string, request: Request): Promise<Answer>;
  /** The secret in the newest mail to an address, or in the newest one of a kind. */
  mailed(address: string, kind?: RegExp): Promise<string>;
  /** A user of the trace backend who is logged in. */
  person(name?: string): Promise<Person>;
}

/** The steps of a client in order; they end early if the outcome of a step is unknown. */
export type Story = (teller: Teller) => Promise<void>;

export function tellerOf(
  { mark, n }: { mark: string; n: number },
  { world, client, ledger, mailbox }: { world: World; client: Client; ledger: Ledger; mailbox: Mailbox },
): Teller {
  return {
    mark,
    n,
    world,
    send: client.send,
    read: client.read,
    made: ledger.add,
    async change(fact, state, request) {
      fact.states.push(state);
      const answer = await client.send(request);
      ledger.acknowledge(fact);
      return answer;
    },
    async mailed(address, kind = /(?:)/) {
      ledger.promiseMail(address);
      const until = performance.now() + MAIL_MS;
      const mails = await eventually(
        () => mailbox.to(address).filter(({ raw }) => kind.test(raw)),
        found => found.length > 0 || client.isEnding() || performance.now() > until,
      );
      if (mails.length === 0) throw new Unknown();
      return tokenIn(mails.at(-1));
    },
    person: (name = mark) => world.person(client, name),
  };
}
