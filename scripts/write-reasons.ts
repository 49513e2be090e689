/**
 * npm run reasons: writes the tables of docs/errors.md from the catalogue of reasons.
 *
 *   npm run reasons seen.txt    also adds the reasons of operations that tests have recorded there (RECORD_REASONS)
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { catalogue } from '../src/platform/http/reasons/catalogue.ts';
import { isGeneral } from '../src/platform/http/reasons/of-operations.ts';
import { reasonTables } from './reasons-page.ts';

const PAGE = new URL('../docs/errors.md', import.meta.url);
const OPERATIONS = new URL('../src/platform/http/reasons/of-operations.json', import.meta.url);

const text = readFileSync(PAGE, 'utf8');
writeFileSync(PAGE, text.slice(0, text.indexOf('## ')) + reasonTables());

const operations: Record<string, string[]> = JSON.parse(readFileSync(OPERATIONS, 'utf8'));
const [seen] = process.argv.slice(2);
for (const line of seen === undefined ? [] : readFileSync(seen, 'utf8').trim().split('\n')) {
  const [operation = '', reason = ''] = line.split(' ');
  operations[operation] = [...new Set([...(operations[operation] ?? []), reason])];
}
const sorted = Object.entries(operations)
  .map(
    ([operation, reasons]) =>
      [operation, reasons.filter(reason => reason in catalogue && !isGeneral(reason)).sort()] as const,
  )
  .sort(([first], [second]) => (first < second ? -1 : 1));
writeFileSync(OPERATIONS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
