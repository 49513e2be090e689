import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { SingleBar } from 'cli-progress';
import { parse } from 'csv-parse';
import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import { transaction } from '../../platform/postgres/database.ts';
import { daysBefore, FIRST_DATE, localTime } from './calendar.ts';
import { isCode } from './provider.ts';
import { noteGaps, type Rate, upsertCurrencies, upsertRates } from './store.ts';

/** Lines of one transaction. */
const LINES = 200;
/** Lines that are told about, at most. */
const MAX_COMPLAINTS = 20;
/** Bytes of a line, at most. */
const MAX_LINE = 64 * 1024;
/** Days without rates that count as a weekend with its holidays; more are a hole in the file. */
const LONGEST_GAP = 7;

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
  const { bytes, lines } = openLines(file);

  let codes: string[] | undefined;
  let batch: Rate[] = [];
  let days = 0;
  let stored = 0;
  const complaints: string[] = [];
  let complained = 0;
  let gaps: { date: string; published: string }[] = [];
  let before: string | undefined;
  const store = async () => {
    await transaction(pool, async database => {
      await upsertRates(database, batch);
      await noteGaps(database, gaps);
    });
    stored += batch.length;
    batch = [];
    gaps = [];
    bar.update(bytes.bytesRead);
  };
  for await (const { record, info } of lines) {
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
      complained++;
      if (complaints.length < MAX_COMPLAINTS) complaints.push(`line ${info.lines}: ${read}`);
      before = undefined;
      continue;
    }
    days++;
    batch.push(...read);
    const date = record[0] as string;
    if (before !== undefined) gaps.push(...gapBetween(date, before));
    before = date;
    if (days % LINES === 0) await store();
  }
  await store();
  bar.stop();
  if (!codes) throw new Problem('invalid', `${file} is empty`);
  const more = complained > MAX_COMPLAINTS ? [`and ${complained - MAX_COMPLAINTS} more`] : [];
  const bad = complained === 0 ? [] : ['left out:', ...complaints, ...more];
  return [`imported ${stored} rates of ${days} days`, ...bad].join('\n');
}

/** A file's lines as cells, each with its number. */
function openLines(file: string) {
  const bytes = createReadStream(file);
  const lines = bytes.pipe(
    parse({
      bom: true,
      // No cell is quoted; a stray quote makes one bad line, not one long one.
      quote: null,
      relax_column_count: true,
      trim: true,
      info: true,
      skip_empty_lines: true,
      max_record_size: MAX_LINE,
    }),
  );
  bytes.on('error', error => lines.destroy(error));
  return { bytes, lines: lines as AsyncIterable<{ record: string[]; info: { lines: number } }> };
}

/**
 * The dates between two neighbouring lines: weekends and holidays, for which the rates of the earlier line count, as the
 * provider would say.
 */
function gapBetween(one: string, other: string): { date: string; published: string }[] {
  const [earlier, later] = one < other ? [one, other] : [other, one];
  const gap: { date: string; published: string }[] = [];
  for (let date = daysBefore(later, 1); date > earlier; date = daysBefore(date, 1)) {
    if (gap.length === LONGEST_GAP) return [];
    gap.push({ date, published: earlier });
  }
  return gap;
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
  const { day: today } = localTime(new Date());
  if (date < FIRST_DATE || date > today) return `${date} is not from ${FIRST_DATE} to ${today}`;
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
