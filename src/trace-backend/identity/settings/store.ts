import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** A setting of the front end. */
export interface GlobalSetting {
  value: string | null;
  isPublic: boolean;
}

const SETTING = sql`value, is_public AS "isPublic"`;

export async function findSetting(database: Database, name: string): Promise<GlobalSetting | undefined> {
  const { rows } = await database.query<GlobalSetting>(
    sql`SELECT ${SETTING} FROM global_settings WHERE name = ${name}`,
  );
  return rows[0];
}

/** The name of the instance, which administrators set in the console; undefined if it is unset or not public. */
export async function findInstanceName(database: Database): Promise<string | undefined> {
  const found = await findSetting(database, 'INSTANCE_NAME');
  return (found?.isPublic && found.value) || undefined;
}

/** A setting, locked until the end of the transaction; created empty if there is none. */
export async function lockSetting(database: Database, name: string): Promise<GlobalSetting> {
  await execute(
    database,
    sql`
    INSERT INTO global_settings (name, is_public) VALUES (${name}, false) ON CONFLICT (name) DO NOTHING`,
  );
  const { rows } = await database.query<GlobalSetting>(
    sql`SELECT ${SETTING} FROM global_settings WHERE name = ${name} FOR UPDATE`,
  );
  return rows[0] as GlobalSetting;
}

export async function updateSetting(
  database: Database,
  name: string,
  { value, isPublic }: GlobalSetting,
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE global_settings SET value = ${value}, is_public = ${isPublic} WHERE name = ${name}`,
  );
}

export async function countSettings(database: Database): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM global_settings`,
  );
  return rows[0]?.count ?? 0;
}
