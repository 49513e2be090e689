import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { SingleBar } from 'cli-progress';
import { parse } from 'csv-parse';
import type pg from 'pg';
import { transaction } from '../../platform/database.ts';
import { Problem } from '../../platform/problems.ts';
import { isCode } from './provider.ts';
import { type Rate, upsertCurrencies, upsertRates } from './store.ts';

/** Lines of one transaction. */
const LINES = 200;
/** Lines that are told about, at most. */
const MAX_COMPLAINTS = 20;

/**
 * Imports the European Central Bank's history (eurofxref-hist.csv: a line a day, newest first, a column a currency, N/A
 * where there is none, a comma at the end of each line). Line by line, so its length does not matter; known rates are
 * replaced by the same ones, so an import that was broken off is simply started again.
 *
 * @returns what was done, in words
 * @throws Problem when the file cannot be read, or is another one
 */
export async function importEcbRates(pool: pg.Pool, file: string): Promise<string> {
  const size = await stat(file).then(
    ({ size }) => size,
    () => {
      throw new Problem('invalid', `${file} cannot be read`);
    },
  );
  const bar = new SingleBar({ format: '{bar} {percentage}%', noTTYOutput: false, stream: process.stderr });
  if (process.stderr.isTTY) bar.start(size, 0);
  const bytes = createReadStream(file);
  const lines = bytes.pipe(
    parse({ bom: true, relax_column_count: true, trim: true, info: true, skip_empty_lines: true }),
  );
  bytes.on('error', error => lines.destroy(error));

  let codes: string[] | undefined;
  let batch: Rate[] = [];
  let days = 0;
  let stored = 0;
  const complaints: string[] = [];
  const store = async () => {
    await transaction(pool, database => upsertRates(database, batch));
    stored += batch.length;
    batch = [];
    bar.update(bytes.bytesRead);
  };
  for await (const { record, info } of lines as AsyncIterable<{
    record: string[];
    info: { lines: number };
  }>) {
    if (!codes) {
      codes = readHeader(record, file);
      await upsertCurrencies(
        pool,
        codes.filter(isCode).map(code => ({ code })),
      );
      continue;
    }
    const read = readLine(record, codes);
    if (typeof read === 'string') {
      complaints.push(`line ${info.lines}: ${read}`);
      continue;
    }
    days++;
    batch.push(...read);
    if (days % LINES === 0) await store();
  }
  await store();
  bar.stop();
  if (!codes) throw new Problem('invalid', `${file} is empty`);
  const more = complaints.length > MAX_COMPLAINTS ? [`and ${complaints.length - MAX_COMPLAINTS} more`] : [];
  const bad = complaints.length === 0 ? [] : ['left out:', ...complaints.slice(0, MAX_COMPLAINTS), ...more];
  return [`imported ${stored} rates of ${days} days`, ...bad].join('\n');
}

/** The currencies by column; columns that are none are empty texts. */
function readHeader([first, ...names]: string[], file: string): string[] {
  if (first !== 'Date' || !names.some(isCode)) {
    throw new Problem(
      'invalid',
      `${file} is not the ECB's eurofxref-hist.csv: its first line must begin with Date,USD,…`,
    );
  }
  return names.map(name => (isCode(name) ? name : ''));
}

/** @returns a sentence when something in the line is wrong: then none of it is taken */
function readLine([date = '', ...values]: string[], codes: readonly string[]): Rate[] | string {
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || !new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date)) {
    return `${date.slice(0, 20) || 'nothing'} is not a date`;
  }
  const rates: Rate[] = [];
  for (const [column, code] of codes.entries()) {
    const value = values[column] ?? '';
    if (code === '' || value === '' || value === 'N/A') continue;
    if (!/^\d{1,12}(\.\d{1,12})?$/.test(value) || Number(value) === 0)
      return `${value.slice(0, 20)} is not a rate of ${code}`;
    rates.push({ code, date, value });
  }
  return rates;
}
