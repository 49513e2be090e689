import sql from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';

/** The ids of the documents of the owner that a label shows, in order. */
export async function findShown(database: Database, labelId: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT document_id AS id FROM label_documents WHERE label_id = ${labelId} ORDER BY position`);
  return rows.map(({ id }) => id);
}

/** Replaces the documents that a label shows, in this order. */
export async function setShown(database: Database, labelId: number, ids: readonly number[]): Promise<void> {
  await execute(database, sql`DELETE FROM label_documents WHERE label_id = ${labelId}`);
  await execute(
    database,
    sql`
    INSERT INTO label_documents (label_id, document_id, position)
    SELECT ${labelId}::integer, document_id, position
    FROM unnest(${ids}::integer[]) WITH ORDINALITY AS sent (document_id, position)`,
  );
}

/** The labels that show at least one of these documents. */
export async function findShowing(database: Database, documentIds: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT label_id AS id FROM label_documents WHERE document_id = ANY (${documentIds}::integer[])`);
  return rows.map(({ id }) => id);
}
