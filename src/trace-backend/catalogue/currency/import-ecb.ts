import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { SingleBar } from 'cli-progress';
import { parse } from 'csv-parse';
import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Fault, fault, textOf } from '../../../platform/http/reasons/catalogue.ts';
import { audit, PROGRAM } from '../../base/audit/audit.ts';
import { daysBefore, FIRST_DATE, localTime } from './calendar.ts';
import { isCode } from './provider.ts';
import {
  findJumps,
  type Gap,
  type Jump,
  noteGaps,
  type Rate,
  upsertCurrencies,
  upsertRates,
} from './store.ts';

/** Lines per statement. */
const BATCH_LINES = 200;
/** Maximum lines in an error message. */
const MAX_FAULTS = 20;
/** Maximum bytes of a line. */
const MAX_LINE = 64 * 1024;
/** Maximum days without rates that count as a weekend with holidays; more are a gap in the file. */
const MAX_GAP_DAYS = 7;

/** A rate that differs from that of a neighbouring day by more than this factor is treated as an error. */
const JUMP = 5;

/** A file on the disk of this machine. */
interface RatesFile {
  path: string;
  /** its name in messages */
  name: string;
}

/** The result of an import. */
export interface Imported {
  rates: number;
  days: number;
  currencies: number;
  /** the first and the last day; absent without days */
  dates?: { from: string; to: string };
}

/**
 * Imports the European Central Bank's history (eurofxref-hist.csv: one line per day, newest first, one column per
 * currency, N/A for missing rates, a trailing comma on each line), completely or not at all. The file is streamed, so
 * that it can have any length. Existing rates are replaced. The audit records the import.
 *
 * @param actor the user or program that imports it
 * @param options.force also accepts rates that differ from those of neighbouring days by more than 5 ×
 * @param options.progress called now and then with the number of bytes read
 * @throws Problem if the file cannot be read, is a different file, or contains errors; names the lines
 */
export async function importRates(
  pool: pg.Pool,
  file: RatesFile,
  actor: Parameters<typeof audit>[1],
  { force = false, progress = () => {} }: { force?: boolean; progress?: (bytes: number) => void } = {},
): Promise<Imported> {
  return transaction(pool, async database => {
    const { codes, rates, days, dates } = await storeLines(database, file, progress);
    const jumps = force || !dates ? [] : await findJumps(database, codes, dates, JUMP, MAX_FAULTS + 1);
    if (jumps.length > 0) throw refusal('rates_file.jumps', file, jumps.map(jumpFault));
    const imported = { rates, days, currencies: codes.length, ...(dates && { dates }) };
    const details = { file: file.name, ...imported };
    await audit(database, actor, { action: IMPORTED, entity: 'currency', entityId: 'EUR', details });
    return imported;
  });
}

/** The action of imports in the audit. */
export const IMPORTED = 'IMPORT_RATES';

/**
 * Like `importRates`, for operators, with a progress bar on terminals.
 *
 * @returns a message about the result
 */
export async function importEcbRates(
  pool: pg.Pool,
  file: string,
  { force = false }: { force?: boolean } = {},
): Promise<string> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats) throw new Problem('rates_file.unreadable', { file });
  if (stats.isDirectory()) throw new Problem('rates_file.is_folder', { file });
  const bar = new SingleBar({ format: '{bar} {percentage}%', noTTYOutput: false, stream: process.stderr });
  if (process.stderr.isTTY) bar.start(stats.size, 0);
  try {
    const progress = (bytes: number) => bar.update(bytes);
    const { rates, days } = await importRates(pool, { path: file, name: file }, PROGRAM, { force, progress });
    const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
    return `imported ${counted(rates, 'rate')} of ${counted(days, 'day')}`;
  } finally {
    bar.stop();
  }
}

/** The contents of a file. */
interface Report {
  codes: string[];
  rates: number;
  days: number;
  /** undefined if the file has only a header */
  dates: { from: string; to: string } | undefined;
}

/** @throws Problem that names every wrong line; then nothing may be committed */
async function storeLines(
  database: Database,
  file: RatesFile,
  progress: (bytes: number) => void,
): Promise<Report> {
  const { bytes, lines } = openLines(file.path);
  const faults: Fault[] = [];
  const seen = new Set<string>();
  let columns: string[] | undefined;
  let batch: Rate[] = [];
  let rates = 0;
  let previousDate: string | undefined;
  let gaps: Gap[] = [];
  const store = async () => {
    if (faults.length === 0) {
      await upsertRates(database, batch);
      await noteGaps(database, gaps);
    }
    rates += batch.length;
    batch = [];
    gaps = [];
    progress(bytes.bytesRead);
  };
  for await (const { record, info } of lines) {
    if (!columns) {
      columns = readHeader(record, file);
      if (columns.at(-1) !== '') await checkEnd(file);
      await upsertCurrencies(
        database,
        columns.filter(isCode).map(code => ({ code })),
      );
      continue;
    }
    const read = readLine(record, info.lines, columns, seen);
    if ('reason' in read) {
      faults.push(read);
      if (faults.length > MAX_FAULTS) break;
      continue;
    }
    const date = record[0] as string;
    seen.add(date);
    batch.push(...read);
    if (previousDate !== undefined) gaps.push(...gapBetween(date, previousDate));
    previousDate = date;
    if (seen.size % BATCH_LINES === 0) await store();
  }
  await store();
  if (!columns) throw new Problem('rates_file.empty', { file: file.name });
  if (faults.length > 0) throw refusal('rates_file.wrong_lines', file, faults);
  const [from, to] = [[...seen].reduce(earlier, '9'), [...seen].reduce(later, '')];
  return {
    codes: columns.filter(isCode),
    rates,
    days: seen.size,
    dates: seen.size === 0 ? undefined : { from, to },
  };
}

const earlier = (a: string, b: string) => (a < b ? a : b);
const later = (a: string, b: string) => (a > b ? a : b);

/** The problem of a file: one fault with all sentences, followed by the single faults. */
function refusal(
  reason: 'rates_file.wrong_lines' | 'rates_file.jumps',
  file: RatesFile,
  faults: readonly Fault[],
): Problem {
  const shown = faults.slice(0, MAX_FAULTS);
  const more = faults.length > MAX_FAULTS ? ['and more'] : [];
  const lines = [...shown.map(textOf), ...more].join('\n');
  return new Problem([fault(reason, { file: file.name, lines }), ...shown]);
}

function jumpFault({ code, date, value, before }: Jump): Fault {
  return fault('rates_file.jump', { date, value, code, before: before.value, day_before: before.date });
}

/**
 * Lines without a trailing comma may have been cut off within their last number: then only a line break shows that
 * the last line is complete.
 */
async function checkEnd(file: RatesFile): Promise<void> {
  const handle = await open(file.path);
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: size - 1 });
    if (buffer[0] !== 0x0a) throw new Problem('rates_file.cut_off', { file: file.name });
  } finally {
    await handle.close();
  }
}

/** A file's lines as cells, each with its number. */
function openLines(file: string) {
  const bytes = createReadStream(file);
  const lines = bytes.pipe(
    parse({
      bom: true,
      // No cell is quoted; a stray quote must not merge lines.
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
 * The dates between two neighbouring lines: weekends and holidays, for which the rates of the earlier line apply, as with
 * the provider.
 */
function gapBetween(a: string, b: string): Gap[] {
  const published = earlier(a, b);
  const gap: Gap[] = [];
  for (let date = daysBefore(later(a, b), 1); date > published; date = daysBefore(date, 1)) {
    if (gap.length === MAX_GAP_DAYS) return [];
    gap.push({ date, published });
  }
  return gap;
}

/** The currencies by column; other columns are empty texts. */
function readHeader([first, ...names]: string[], { name: file }: RatesFile): string[] {
  if (first !== 'Date' || !names.some(isCode)) {
    throw new Problem('rates_file.not_of_ecb', { file });
  }
  const twice = names.find((name, column) => isCode(name) && names.indexOf(name) !== column);
  if (twice) throw new Problem('rates_file.currency_twice', { file, code: twice });
  return names.map(name => (isCode(name) ? name : ''));
}

/**
 * @param line number of the line
 * @param columns the currency of each cell after the date
 * @param seen the dates of the previous lines
 * @returns a fault if the line is wrong
 */
function readLine(
  [date = '', ...values]: string[],
  line: number,
  columns: readonly string[],
  seen: ReadonlySet<string>,
): Rate[] | Fault {
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || !new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date)) {
    if (date === '') return fault('rates_file.line_without_date', { line });
    return fault('rates_file.no_date', { line, value: date.slice(0, 20) });
  }
  const { day: today } = localTime(new Date());
  if (date < FIRST_DATE || date > today) {
    return fault('rates_file.date_out_of_range', { line, value: date, min: FIRST_DATE, max: today });
  }
  if (seen.has(date)) return fault('rates_file.date_twice', { line, value: date });
  if (values.length !== columns.length) {
    const [count, expected] = [values.length + 1, columns.length + 1];
    return fault('rates_file.wrong_cell_count', { line, count, expected });
  }
  const rates: Rate[] = [];
  for (const [column, code] of columns.entries()) {
    const value = values[column] as string;
    if (code === '' || value === '' || value === 'N/A') continue;
    if (!/^\d{1,12}(\.\d{1,12})?$/.test(value) || Number(value) === 0) {
      return fault('rates_file.no_rate', { line, value: value.slice(0, 20), code });
    }
    rates.push({ code, date, value });
  }
  return rates;
}
