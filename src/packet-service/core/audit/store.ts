import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** A command that an operator ran. */
export interface AuditedCommand {
  at: Date;
  /** such as `erase packet` */
  command: string;
  /** who ran it, and on what; never a secret */
  details: Record<string, unknown>;
}

/** Writes an entry in the caller's transaction. */
export async function insertCommand(
  database: Database,
  { at, command, details }: AuditedCommand,
): Promise<void> {
  await database.query(sql`
    INSERT INTO audit (at, command, details) VALUES (${at}, ${command}, ${JSON.stringify(details)}::jsonb)`);
}

/** The newest commands, newest first. */
export async function listCommands(database: Database, limit: number): Promise<AuditedCommand[]> {
  const { rows } = await database.query<AuditedCommand>(
    sql`SELECT at, command, details FROM audit ORDER BY id DESC LIMIT ${limit}`,
  );
  return rows;
}
