import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import { ADVISORY_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';

/** A stored key pair: a private JWK (RFC 8037), encrypted if SECRETS_KEY is set, and its creation time. */
export interface StoredKey {
  kid: string;
  privateKey: string;
  createdAt: Date;
}

/** All keys, newest first. */
export async function findKeys(database: Database): Promise<StoredKey[]> {
  const { rows } = await database.query<StoredKey>(sql`
    SELECT kid, private_key AS "privateKey", created_at AS "createdAt" FROM signing_keys
    ORDER BY created_at DESC, kid`);
  return rows;
}

export async function insertKey(
  database: Database,
  { kid, privateKey, createdAt }: StoredKey,
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO signing_keys (kid, private_key, created_at) VALUES (${kid}, ${privateKey}, ${createdAt})`,
  );
}

/** Deletes keys by their ids. */
export async function deleteKeys(database: Database, kids: readonly string[]): Promise<void> {
  await execute(database, sql`DELETE FROM signing_keys WHERE kid = ANY (${kids})`);
}

/** Until the end of the transaction, no other process creates keys, secrets or the first administrator. */
export async function lockFirstStart(database: Database): Promise<void> {
  await database.query(sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.firstStart})`);
}

/** A stored secret, and its creation time. */
interface StoredSecret {
  name: string;
  value: string;
  madeAt: Date | null;
}

export async function findSecret(database: Database, name: string): Promise<StoredSecret | undefined> {
  const { rows } = await database.query<StoredSecret>(sql`
    SELECT name, value, made_at AS "madeAt" FROM kept_secrets WHERE name = ${name}`);
  return rows[0];
}

export async function findSecrets(database: Database): Promise<StoredSecret[]> {
  const { rows } = await database.query<StoredSecret>(sql`
    SELECT name, value, made_at AS "madeAt" FROM kept_secrets ORDER BY name`);
  return rows;
}

/** Stores a secret, replacing an earlier one of the same name. */
export async function putSecret(
  database: Database,
  name: string,
  value: string,
  madeAt: Date,
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO kept_secrets (name, value, made_at) VALUES (${name}, ${value}, ${madeAt})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, made_at = excluded.made_at`,
  );
}

/** Replaces a key by its re-encrypted form. */
export async function resealKey(database: Database, kid: string, privateKey: string): Promise<void> {
  await execute(database, sql`UPDATE signing_keys SET private_key = ${privateKey} WHERE kid = ${kid}`);
}

/** Replaces a secret by its re-encrypted form. */
export async function resealSecret(database: Database, name: string, value: string): Promise<void> {
  await execute(database, sql`UPDATE kept_secrets SET value = ${value} WHERE name = ${name}`);
}
