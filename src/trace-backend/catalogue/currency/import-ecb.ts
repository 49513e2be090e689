import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { SingleBar } from 'cli-progress';
import { parse } from 'csv-parse';
import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
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
const LINES = 200;
/** Lines in an error message, at most. */
const MAX_COMPLAINTS = 20;
/** Bytes of a line, at most. */
const MAX_LINE = 64 * 1024;
/** Days without rates that count as a weekend with its holidays; more are a gap in the file. */
const LONGEST_GAP = 7;

/** A rate that differs from that of a neighbouring day by more than this factor is treated as an error. */
const JUMP = 5;

/** A file on the disk of this machine. */
export interface RatesFile {
  path: string;
  /** how messages name it */
  name: string;
}

/** What an import has stored. */
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
 * that it can have any length. Known rates are replaced. The audit records the import.
 *
 * @param actor who imports it
 * @param options.force also accepts rates that differ from those of neighbouring days by more than 5 ×
 * @param options.progress gets the bytes that have been read, now and then
 * @throws Problem if the file cannot be read, is another one, or contains errors; names the lines
 */
export async function importRates(
  pool: pg.Pool,
  file: RatesFile,
  actor: Parameters<typeof audit>[1],
  { force = false, progress = () => {} }: { force?: boolean; progress?: (bytes: number) => void } = {},
): Promise<Imported> {
  return transaction(pool, async database => {
    const { codes, rates, days, dates } = await storeLines(database, file, progress);
    const jumps = force || !dates ? [] : await findJumps(database, codes, dates, JUMP, MAX_COMPLAINTS + 1);
    if (jumps.length > 0) throw refusal(file, jumps.map(sentenceOf), '; with force they are imported anyway');
    const imported = { rates, days, currencies: codes.length, ...(dates && { dates }) };
    const details = { file: file.name, ...imported };
    await audit(database, actor, { action: IMPORTED, entity: 'currency', entityId: 'EUR', details });
    return imported;
  });
}

/** The action of imports in the audit. */
export const IMPORTED = 'IMPORT_RATES';

/**
 * The same for operators, with a bar of its progress on a terminal.
 *
 * @returns a message about the result
 */
export async function importEcbRates(
  pool: pg.Pool,
  file: string,
  { force = false }: { force?: boolean } = {},
): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found) throw new Problem('invalid', `${file} cannot be read`);
  if (found.isDirectory()) throw new Problem('invalid', `${file} is a folder, not a file`);
  const bar = new SingleBar({ format: '{bar} {percentage}%', noTTYOutput: false, stream: process.stderr });
  if (process.stderr.isTTY) bar.start(found.size, 0);
  try {
    const progress = (bytes: number) => bar.update(bytes);
    const { rates, days } = await importRates(pool, { path: file, name: file }, PROGRAM, { force, progress });
    const of = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
    return `imported ${of(rates, 'rate')} of ${of(days, 'day')}`;
  } finally {
    bar.stop();
  }
}

/** The contents of a file. */
interface Report {
  codes: string[];
  rates: number;
  days: number;
  /** undefined if it had no lines after the first */
  dates: { from: string; to: string } | undefined;
}

/** @throws Problem that names every wrong line; then nothing may be committed */
async function storeLines(
  database: Database,
  file: RatesFile,
  progress: (bytes: number) => void,
): Promise<Report> {
  const { bytes, lines } = openLines(file.path);
  const complaints: string[] = [];
  const seen = new Set<string>();
  let columns: string[] | undefined;
  let batch: Rate[] = [];
  let rates = 0;
  let before: string | undefined;
  let gaps: Gap[] = [];
  const store = async () => {
    if (complaints.length === 0) {
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
    const read = readLine(record, columns, seen);
    if (typeof read === 'string') {
      complaints.push(`line ${info.lines}: ${read}`);
      if (complaints.length > MAX_COMPLAINTS) break;
      continue;
    }
    const date = record[0] as string;
    seen.add(date);
    batch.push(...read);
    if (before !== undefined) gaps.push(...gapBetween(date, before));
    before = date;
    if (seen.size % LINES === 0) await store();
  }
  await store();
  if (!columns) throw new Problem('invalid', `${file.name} is empty`);
  if (complaints.length > 0) throw refusal(file, complaints);
  const [from, to] = [[...seen].reduce(earlier, '9'), [...seen].reduce(later, '')];
  return {
    codes: columns.filter(isCode),
    rates,
    days: seen.size,
    dates: seen.size === 0 ? undefined : { from, to },
  };
}

const earlier = (one: string, other: string) => (one < other ? one : other);
const later = (one: string, other: string) => (one > other ? one : other);

function refusal(file: RatesFile, complaints: readonly string[], hint = ''): Problem {
  const more = complaints.length > MAX_COMPLAINTS ? ['and more'] : [];
  const told = [...complaints.slice(0, MAX_COMPLAINTS), ...more];
  return new Problem('invalid', [`nothing of ${file.name} was imported${hint}`, ...told].join('\n'));
}

function sentenceOf({ code, date, value, before }: Jump): string {
  return `${date}: ${value} ${code}, but ${before.value} on ${before.date}`;
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
    if (buffer[0] !== 0x0a) throw refusal(file, ['the last line may be cut off: no line break follows it']);
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
 * The dates between two neighbouring lines: weekends and holidays, for which the rates of the earlier line count, as
 * with the provider.
 */
function gapBetween(one: string, other: string): Gap[] {
  const published = earlier(one, other);
  const gap: Gap[] = [];
  for (let date = daysBefore(later(one, other), 1); date > published; date = daysBefore(date, 1)) {
    if (gap.length === LONGEST_GAP) return [];
    gap.push({ date, published });
  }
  return gap;
}

/** The currencies by column; other columns are empty texts. */
function readHeader([first, ...names]: string[], { name: file }: RatesFile): string[] {
  if (first !== 'Date' || !names.some(isCode)) {
    throw new Problem(
      'invalid',
      `${file} is not the ECB's eurofxref-hist.csv: its first line must begin with Date,USD,…`,
    );
  }
  const twice = names.find((name, column) => isCode(name) && names.indexOf(name) !== column);
  if (twice) throw new Problem('invalid', `the first line of ${file} names ${twice} twice`);
  return names.map(name => (isCode(name) ? name : ''));
}

/**
 * @param columns the currency of each cell after the date
 * @param seen the dates of the lines before
 * @returns an error message if the line is wrong
 */
function readLine(
  [date = '', ...values]: string[],
  columns: readonly string[],
  seen: ReadonlySet<string>,
): Rate[] | string {
  if (!/^\d{4}-\d\d-\d\d$/.test(date) || !new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date)) {
    return `${date.slice(0, 20) || 'nothing'} is not a date`;
  }
  const { day: today } = localTime(new Date());
  if (date < FIRST_DATE || date > today) return `${date} is not from ${FIRST_DATE} to ${today}`;
  if (seen.has(date)) return `${date} is also in an earlier line`;
  if (values.length !== columns.length) {
    return `${values.length + 1} cells, but the first line has ${columns.length + 1}`;
  }
  const rates: Rate[] = [];
  for (const [column, code] of columns.entries()) {
    const value = values[column] as string;
    if (code === '' || value === '' || value === 'N/A') continue;
    if (!/^\d{1,12}(\.\d{1,12})?$/.test(value) || Number(value) === 0)
      return `${value.slice(0, 20)} is not a rate of ${code}`;
    rates.push({ code, date, value });
  }
  return rates;
}
