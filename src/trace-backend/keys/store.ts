import sql from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';

/** A key pair as it is kept: a private JWK (RFC 8037), and when it was made. */
export interface KeptKey {
  kid: string;
  privateKey: string;
  createdAt: Date;
}

/** Every kept key, the newest first. */
export async function findKeys(database: Database): Promise<KeptKey[]> {
  const { rows } = await database.query<KeptKey>(sql`
    SELECT kid, private_key AS "privateKey", created_at AS "createdAt" FROM signing_keys
    ORDER BY created_at DESC, kid`);
  return rows;
}

export async function insertKey(database: Database, { kid, privateKey, createdAt }: KeptKey): Promise<void> {
  await database.query(sql`
    INSERT INTO signing_keys (kid, private_key, created_at) VALUES (${kid}, ${privateKey}, ${createdAt})`);
}

/** Forgets keys by their ids. */
export async function deleteKeys(database: Database, kids: readonly string[]): Promise<void> {
  await database.query(sql`DELETE FROM signing_keys WHERE kid = ANY (${kids})`);
}

/** Any number, the same in every process: whoever holds this advisory lock makes what is made once. */
const FIRST_START_LOCK = 7_104_915_205;

/** Lets one process at a time make keys, secrets and the first administrator; until the end of the transaction. */
export async function lockFirstStart(database: Database): Promise<void> {
  await database.query(sql`SELECT pg_advisory_xact_lock(${FIRST_START_LOCK})`);
}

export async function findSecret(database: Database, name: string): Promise<string | undefined> {
  const { rows } = await database.query<{ value: string }>(sql`
    SELECT value FROM kept_secrets WHERE name = ${name}`);
  return rows[0]?.value;
}

export async function insertSecret(database: Database, name: string, value: string): Promise<void> {
  await database.query(sql`INSERT INTO kept_secrets (name, value) VALUES (${name}, ${value})`);
}
