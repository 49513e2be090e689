import { expect, test } from 'vitest';
import { prepared } from './database.ts';
import { statementName } from './statement-name.ts';

test('a statement is named by its name, otherwise by verb, tables and hash, and never by its values', () => {
  expect(statementName({ name: 'find_packets', text: 'SELECT 1' })).toBe('find_packets');
  const text = `SELECT * FROM users JOIN sessions USING (id) JOIN audit ON true WHERE email = 'ana@example.org'`;
  expect(statementName({ text })).toMatch(/^SELECT users, sessions [0-9a-f]{8}$/);
  expect(statementName(prepared({ text, values: [] }))).toBe(statementName({ text }));
  expect(prepared({ text, values: [] }).name?.slice(0, 8)).toBe(statementName({ text }).slice(-8));
  for (const [named, verbAndTables] of [
    ['INSERT INTO audit (at) VALUES ($1)', 'INSERT audit'],
    ['\n  update companies SET name = $1', 'UPDATE companies'],
    ['DELETE FROM trace_backend_jobs.job WHERE true', 'DELETE trace_backend_jobs.job'],
    ['SELECT * FROM unnest($1::uuid[]) AS some_ids', 'SELECT'],
    ['COMMIT', 'COMMIT'],
  ] as const)
    expect(statementName({ text: named }).slice(0, -9)).toBe(verbAndTables);
  expect(statementName({})).toMatch(/^STATEMENT [0-9a-f]{8}$/);
});
