import type { Output } from './output.ts';
import type { Cells } from './rows.ts';

/** Writes a table in one format. */
export interface RowWriter {
  /** what is before the first row */
  start(output: Output): void;
  row(output: Output, cells: Cells): void;
  /** what is after the last row */
  end(output: Output): void;
}
