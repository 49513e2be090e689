import type { PreparedStatement } from './send-together.ts';

/** Rows per prepared multi-row insert: batches up to 32 rows, which most are, and full ones are one statement. */
const SIZES = [128, 64, ...Array.from({ length: 32 }, (_, n) => 32 - n)];

/** A table that the batch writer fills. */
export interface RowTable {
  /** `INSERT INTO packets (id, …)`, without the rows */
  insert: string;
  /** what follows the rows, such as `ON CONFLICT DO NOTHING` */
  ending?: string;
  /** number of columns */
  width: number;
  /** name of the prepared statements, unique among the tables */
  name: string;
}

/**
 * Prepared multi-row `INSERT … VALUES` statements for any number of rows: 69 rows go as 64 + 5, so a few
 * statements serve every batch. Chosen over `INSERT … SELECT FROM unnest(…)`, which is as quick on plain
 * PostgreSQL but is pulled to the coordinator on Citus, at a tenth of the speed.
 */
export function insertStatements(table: RowTable, rows: readonly unknown[][]): PreparedStatement[] {
  const statements: PreparedStatement[] = [];
  let at = 0;
  while (at < rows.length) {
    const size = SIZES.find(candidate => candidate <= rows.length - at) ?? 1;
    statements.push({
      name: `${table.name}_${size}`,
      text: textOf(table, size),
      values: rows.slice(at, at + size).flat(),
    });
    at += size;
  }
  return statements;
}

const texts = new Map<string, string>();

function textOf(table: RowTable, size: number): string {
  const key = `${table.name}_${size}`;
  const known = texts.get(key);
  if (known) return known;
  const rows = Array.from({ length: size }, (_, row) => {
    const cells = Array.from({ length: table.width }, (_, column) => `$${row * table.width + column + 1}`);
    return `(${cells.join(',')})`;
  });
  const text = `${table.insert} VALUES ${rows.join(',')} ${table.ending ?? ''}`;
  texts.set(key, text);
  return text;
}
