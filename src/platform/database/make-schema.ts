import type pg from 'pg';
import { escapeIdentifier } from 'pg';
import sql from 'sql-template-tag';

/** A database that this version cannot work with. Its message says what to do. */
export class MigrationError extends Error {
  /** the part of the message that says what is wrong */
  readonly fault: string;
  /** the part that says what to do, if it is separate */
  readonly remedy: string | undefined;
  /** git tag of the version that has to migrate the database before this one can */
  readonly tag: string | undefined;

  constructor(
    fault: string,
    { remedy, tag, cause }: { remedy?: string; tag?: string; cause?: unknown } = {},
  ) {
    super(remedy === undefined ? fault : `${fault}; ${remedy}`, { cause });
    this.fault = fault;
    this.remedy = remedy;
    this.tag = tag;
  }
}

/** SQLSTATE where another process was first: duplicate schema, or a unique violation when both commit at once. */
const MADE_MEANWHILE = ['42P06', '23505'];

interface Rights {
  role: string;
  database: string;
  hasSchema: boolean;
  mayCreateSchema: boolean;
  mayUseSchema: boolean;
}

/**
 * Makes a schema where it is missing. A schema that exists is enough for a role that may not make one.
 *
 * @throws MigrationError with the GRANT that the role needs, if it may not make the schema or tables in it
 */
export async function createSchema(client: Pick<pg.Client, 'query'>, schema: string): Promise<void> {
  const { rows } = await client.query<Rights>(sql`
    SELECT current_user AS role, current_database() AS database, namespace IS NOT NULL AS "hasSchema",
      has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchema",
      coalesce(has_schema_privilege(namespace, 'CREATE'), false) AS "mayUseSchema"
    FROM (SELECT to_regnamespace(quote_ident(${schema})) AS namespace) named`);
  const { role, database, hasSchema, mayCreateSchema, mayUseSchema } = rows[0] as Rights;
  if (hasSchema && !mayUseSchema)
    throw lacks(schema, `CREATE, USAGE ON SCHEMA ${escapeIdentifier(schema)}`, role);
  if (hasSchema) return;
  if (!mayCreateSchema) throw lacks(schema, `CREATE ON DATABASE ${escapeIdentifier(database)}`, role);
  await client.query(`CREATE SCHEMA ${escapeIdentifier(schema)}`).catch(error => {
    if (!MADE_MEANWHILE.includes(error.code)) throw error;
  });
}

function lacks(schema: string, rights: string, role: string): MigrationError {
  return new MigrationError(
    `DATABASE_URL: the role cannot create the schema ${schema} or tables in it; the owner of the database must run: ` +
      `GRANT ${rights} TO ${escapeIdentifier(role)};`,
  );
}
