import type { LoggedIn, RunningTrace } from './trace.ts';

/** A company of a value chain with somebody who acts for it. */
export interface Tenant {
  companyId: number;
  user: LoggedIn;
}

/** Creates a company with these users as members. */
export async function companyOf(
  { pool }: RunningTrace,
  name: string,
  members: readonly LoggedIn[],
  status = 'ACTIVE',
): Promise<number> {
  const { rows } = await pool.query(
    `INSERT INTO companies (status, name, folded, tokens, created_by, created_at)
     SELECT $2, $1, lower($1), '{}', min(id), now() FROM users RETURNING id`,
    [name, status],
  );
  const { id } = rows[0];
  for (const member of members) {
    await pool.query(
      "INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, 'COMPANY_ADMIN')",
      [id, member.id],
    );
  }
  return id;
}

/** A new user with a company of their own. */
export async function tenant(trace: RunningTrace, name: string): Promise<Tenant> {
  const user = await trace.loggedIn();
  return { user, companyId: await companyOf(trace, name, [user]) };
}

/** Adds a product, and gives its id. */
export async function added(user: LoggedIn, body: object): Promise<number> {
  const answer = await user.send('POST', '/api/product/create', body);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data.id;
}

/** Reads a product as a user. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, whatever their shape
export async function read(user: LoggedIn, id: number): Promise<any> {
  const answer = await user.send('GET', `/api/product/${id}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data;
}
