import pg from 'pg';
import type { Connection } from '../../src/platform/database/database.ts';
import { errorCode, passingTrouble } from '../../src/platform/database/troubles.ts';
import { eventually } from '../helpers/eventually.ts';
import type { Client } from './client.ts';

/** The first administrator of the trace backend. */
export const ADMIN = { email: 'admin@example.org', password: 'an administrator' };
export const PASSWORD = 'correct horse battery staple';
/** Its hash, with the least cost that the format has: the processor has faults to see to. */
const HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$vK9v0OWqoxsnIkDDgGdlMxPp94AvwibM+EFs97z55kQ';
/** Sessions are replaced before their access token expires, in milliseconds. */
const SESSION_MS = 40 * 60_000;

/** A user of the trace backend who is logged in. */
export interface Person {
  id: number;
  email: string;
  /** the cookies of the session */
  cookie: string;
}

export type Member = Person & { companyId: number };

/** The records that stories refer to but do not write themselves. */
export interface World {
  /** an administrator, and users with a company each, whom stories share */
  admin(client: Pick<Client, 'send'>): Promise<Person>;
  grower(client: Pick<Client, 'send'>): Promise<Member>;
  roaster(client: Pick<Client, 'send'>): Promise<Member>;
  /** Makes a user of the trace backend, past the mails and the approval, and logs in. */
  person(client: Pick<Client, 'send'>, name: string): Promise<Person>;
  /** Makes a currency. */
  currency(code: string): Promise<void>;
  /** The id of a user. */
  userId(email: string): Promise<number>;
}

export function openWorld(connection: Connection): World {
  const query = (text: string, values: unknown[]) => queryAgain(connection, text, values);

  async function makeUser(email: string): Promise<void> {
    await query(
      `INSERT INTO trace_backend.users
         (email, email_key, password, name, surname, language, status, role, created_at)
       VALUES ($1, $1, $2, 'Ana', 'Uwase', 'EN', 'ACTIVE', 'USER', now()) ON CONFLICT DO NOTHING`,
      [email, HASH],
    );
  }

  async function person(client: Pick<Client, 'send'>, name: string): Promise<Person> {
    const email = `${name}@people.example.org`;
    await makeUser(email);
    return login(client, email, PASSWORD);
  }

  async function member(client: Pick<Client, 'send'>, name: string): Promise<Member> {
    const who = await person(client, name);
    const found = () => query('SELECT id FROM trace_backend.companies WHERE name = $1', [name]);
    if ((await found()).length === 0) {
      const headers = { cookie: who.cookie };
      await client.send({ endpoint: 'POST /api/company/create', body: { name }, headers });
    }
    return { ...who, companyId: (await found())[0]?.id };
  }

  return {
    admin: lasting(client => login(client, ADMIN.email, ADMIN.password)),
    grower: lasting(client => member(client, 'grower')),
    roaster: lasting(client => member(client, 'roaster')),
    person,
    async currency(code) {
      const values = [code, `currency ${code}`];
      await query(
        'INSERT INTO trace_backend.currency_types (code, label) VALUES ($1, $2) ON CONFLICT DO NOTHING',
        values,
      );
    },
    async userId(email) {
      return (await query('SELECT id FROM trace_backend.users WHERE email_key = $1', [email]))[0]?.id;
    },
  };
}

/** Logs in; a second session more does no harm, so it is sent until it succeeds. */
export async function login(client: Pick<Client, 'send'>, email: string, password: string): Promise<Person> {
  const body = { username: email, password };
  const answer = await client.send({ endpoint: 'POST /api/user/login', body });
  return { id: answer.body.data.id, email, cookie: cookiesOf(answer) };
}

export function cookiesOf({ headers }: { headers: Headers }): string {
  return headers
    .getSetCookie()
    .map(line => /^[^;]+/.exec(line)?.[0])
    .join('; ');
}

/** A value that is created once, and again once it is old. */
function lasting<Value>(
  make: (client: Pick<Client, 'send'>) => Promise<Value>,
): (client: Pick<Client, 'send'>) => Promise<Value> {
  let made: { at: number; value: Promise<Value> } | undefined;
  return client => {
    if (!made || performance.now() - made.at > SESSION_MS) {
      const value = make(client);
      made = { at: performance.now(), value };
      value.catch(() => {
        made = undefined;
      });
    }
    return made.value;
  };
}

/** Asks the database itself, and again while it is down. */
async function queryAgain(connection: Connection, text: string, values: unknown[]) {
  const answer = await eventually(async () => {
    const client = new pg.Client(connection);
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.query(text, values);
    } catch (error) {
      if (!passingTrouble(error) && errorCode(error) !== 'ENOENT') throw error;
      return undefined;
    } finally {
      await client.end().catch(() => {});
    }
  });
  return answer?.rows ?? [];
}
