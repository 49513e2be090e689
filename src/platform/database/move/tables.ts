import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

/** A table, and the columns that a copy of it must have; generated ones follow from them. */
export interface Table {
  schema: string;
  name: string;
  columns: string[];
  /** on the disk */
  bytes: number;
}

/** Contents of a table: the number of rows, and a sum of their hashes, which does not depend on their order. */
export interface Content {
  rows: string;
  hash: string;
}

const TABLES = `
  SELECT nspname AS schema, relname AS name, pg_table_size(c.oid)::float8 AS bytes, c.oid::text, (
    SELECT array_agg(attname::text ORDER BY attname) FROM pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
  ) AS columns, ARRAY(
    SELECT confrelid::text FROM pg_constraint WHERE conrelid = c.oid AND confrelid NOT IN (0, c.oid)
  ) AS needs
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
  WHERE nspname = ANY ($1) AND relkind IN ('r', 'p') AND NOT relispartition
  ORDER BY c.oid`;

/** The tables of some schemas, each after those that its rows refer to. */
export async function listTables(client: pg.Client, schemas: readonly string[]): Promise<Table[]> {
  const { rows } = await client.query<Table & { oid: string; needs: string[] }>(TABLES, [schemas]);
  const sorted = new Set<(typeof rows)[number]>();
  const add = (table: (typeof rows)[number]) => {
    if (sorted.has(table)) return;
    for (const other of rows) if (table.needs.includes(other.oid)) add(other);
    sorted.add(table);
  };
  rows.forEach(add);
  return [...sorted].map(({ schema, name, columns, bytes }) => ({ schema, name, columns, bytes }));
}

/**
 * Copies all rows of a table, in PostgreSQL's binary format, into the empty table of the same name.
 *
 * @param onBytes called with the bytes of each piece
 */
export async function copyTable(
  source: pg.Client,
  target: pg.Client,
  table: Table,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const name = nameOf(source, table);
  const columns = columnsOf(source, table);
  await pipeline(
    source.query(copyTo(`COPY (SELECT ${columns} FROM ${name}) TO STDOUT (FORMAT binary)`)),
    async function* count(pieces) {
      for await (const piece of pieces) {
        onBytes(piece.length);
        yield piece;
      }
    },
    target.query(copyFrom(`COPY ${name} (${columns}) FROM STDIN (FORMAT binary)`)),
  );
}

/** Counts and hashes the rows of a table; sessions must write values in the same way. */
export async function contentOf(client: pg.Client, table: Table): Promise<Content> {
  const { rows } = await client.query<Content>(
    `SELECT count(*)::text AS rows, coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text AS hash
     FROM (SELECT ${columnsOf(client, table)} FROM ${nameOf(client, table)}) AS t`,
  );
  return rows[0] as Content;
}

/** Sets the sequences of some schemas to where those of the source are. */
export async function copySequences(
  source: pg.Client,
  target: pg.Client,
  schemas: readonly string[],
): Promise<void> {
  const { rows } = await source.query<{ name: string; value: string }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value::text AS value FROM pg_sequences
     WHERE schemaname = ANY ($1) AND last_value IS NOT NULL`,
    [schemas],
  );
  for (const { name, value } of rows) await target.query('SELECT setval($1, $2)', [name, value]);
}

export function nameOf(client: pg.Client, { schema, name }: Pick<Table, 'schema' | 'name'>): string {
  return `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(name)}`;
}

function columnsOf(client: pg.Client, { columns }: Table): string {
  return columns.map(column => client.escapeIdentifier(column)).join(', ');
}
