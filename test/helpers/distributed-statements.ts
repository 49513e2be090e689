import pg from 'pg';
import { PLACEMENTS } from '../../src/packet-service/core/contract/placements.ts';

/** Statements of which there is another form for distributed tables: the search, in distributed-search-store.ts. */
const PLAIN_ONLY = /\btheirs AS MATERIALIZED\b/;
const TABLE =
  /\b(?:(?:INTO|UPDATE)\s+(?:packet_service\.)?([a-z_]+)|(?:FROM|JOIN|USING)\s+(?:ONLY\s+)?(?:packet_service\.)?([a-z_]+)\b(?!\s*[.(]))/gi;
const WRITTEN = /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(?:packet_service\.)?([a-z_]+)/gi;
const VOLATILE = /\b(?:now|clock_timestamp|random|gen_random_uuid)\s*\(|\bcurrent_timestamp\b/i;
/** In a scope, where parentheses are spaces. */
const AGGREGATE = /\b(?:count|sum|min|max|array_agg|string_agg|bool_or|bool_and)\s|\bGROUP\s+BY\b/i;
/** The words before the parenthesis of a derived table, but not of a subquery in an expression. */
const DERIVED = /(?:\b(?:FROM|JOIN|LATERAL|AS|MATERIALIZED|UNION|ALL|EXCEPT|ONLY|WITH)|^|[(,])\s*$/i;

/** A query, without those in parentheses inside it. */
interface Scope {
  text: string;
  /** whether it is a derived table, a common table expression or the statement itself */
  isDerived: boolean;
  parent: Scope | undefined;
  /** what of the parent was before it */
  before: string;
}

/**
 * What in a statement breaks a rule of distributed tables that shows in SQL (docs/scale-out.md):
 *
 * - one query reads tables of two co-location groups, or of a group and the coordinator's
 * - an expression of a query over shards has a subquery over other tables, or over any beside an aggregate
 * - rows are inserted into shards from a SELECT, which is executed on the coordinator
 * - a volatile function in a statement that writes shards
 * - rows of shards are locked or found by ctid
 * - a query has no columns, so that its result cannot be sent to a worker
 * - the distribution column is updated
 */
export function distributionFaults(statement: string): string[] {
  const text = withoutStrings(statement);
  if (PLAIN_ONLY.test(text) || !/^\s*(?:\(|SELECT|INSERT|UPDATE|DELETE|WITH|COPY|DECLARE)/i.test(text))
    return [];
  const groups = groupsIn(text);
  if (groups.every(group => group === 'local')) return [];
  const scopes = scopesOf(text);
  return [...writeFaults(text), ...rowFaults(text), ...scopes.flatMap(scopeFaults)];
}

function withoutStrings(statement: string): string {
  return statement
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/"[^"]*"/g, 'quoted');
}

/** The table with whose shards those of a table are; `local` for one that is not distributed. */
function groupOf(table: string): string | undefined {
  const placement = PLACEMENTS[table];
  if (!placement) return undefined;
  return placement.kind === 'distributed' ? (placement.with ?? table) : 'local';
}

function groupsIn(text: string): string[] {
  const groups = [...text.matchAll(TABLE)].flatMap(
    ([, written, read]) => groupOf((written ?? (read as string)).toLowerCase()) ?? [],
  );
  return [...new Set(groups)];
}

function isSharded(group: string): boolean {
  return group !== 'local';
}

function writeFaults(text: string): string[] {
  const faults: string[] = [];
  for (const [, written] of text.matchAll(WRITTEN)) {
    const table = (written as string).toLowerCase();
    const placement = PLACEMENTS[table];
    if (placement?.kind !== 'distributed') continue;
    const from = new RegExp(`INSERT\\s+INTO\\s+${table}\\b[^;]*?\\bSELECT\\b([^;]*)`, 'i').exec(text);
    if (from && !/\bWHERE\s+false\b/i.test(from[1] as string))
      faults.push(`${table} is filled by INSERT … SELECT`);
    if (VOLATILE.test(text)) faults.push(`a volatile function where ${table} is written`);
    if (new RegExp(`UPDATE\\s+${table}\\s+SET[^;]*\\b${placement.by}\\s*=[^;]*\\bWHERE\\b`, 'i').test(text)) {
      faults.push(`${table}.${placement.by} is updated`);
    }
  }
  return faults;
}

function rowFaults(text: string): string[] {
  const found: [RegExp, string][] = [
    [/\bFOR\s+(?:NO\s+KEY\s+)?(?:UPDATE|(?:KEY\s+)?SHARE)\b/i, 'rows of shards are locked'],
    [/\bctid\b/i, 'rows of shards by ctid'],
    [/\bSELECT\s+FROM\b/i, 'a query without columns'],
  ];
  return found.flatMap(([pattern, fault]) => (pattern.test(text) ? [fault] : []));
}

function scopeFaults(scope: Scope): string[] {
  const groups = groupsIn(scope.text);
  const faults =
    groups.length > 1 && groups.some(isSharded) ? [`one query reads ${groups.join(' and ')}`] : [];
  const { parent } = scope;
  const above = parent ? groupsIn(parent.text).filter(isSharded) : [];
  if (scope.isDerived || above.length === 0 || groups.length === 0) return faults;
  if (!groups.every(group => above.includes(group)))
    faults.push(`a subquery on ${groups.join(' and ')} over shards`);
  const isSelected = /^\s*(?:\w+\s+AS[\s\S]*)?SELECT\b(?![\s\S]*\bFROM\b)/i.test(scope.before);
  if (isSelected && AGGREGATE.test(parent?.text ?? '')) {
    faults.push('a subquery beside an aggregate over shards');
  }
  return faults;
}

/** The statement and every query in it. */
function scopesOf(text: string): Scope[] {
  const root: Scope = { text: '', isDerived: true, parent: undefined, before: '' };
  const found = [root];
  let current = root;
  const open: Scope[] = [];
  for (const [index, character] of [...text].entries()) {
    if (character === '(') {
      const isQuery = /^\(\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(text.slice(index, index + 200));
      open.push(current);
      if (isQuery) {
        const { text: before } = current;
        const isSelected = /,\s*$/.test(before) && !/\bFROM\b/i.test(before);
        const isDerived = DERIVED.test(before) && !isSelected;
        current = { text: '', isDerived, parent: current, before: current.text };
        found.push(current);
      } else current.text += ' ';
    } else if (character === ')') current = open.pop() ?? root;
    else current.text += character;
  }
  return found;
}

/** The faults of each statement that was checked: most are sent again and again, and reading one takes its time. */
const known = new Map<string, readonly string[]>();

function faultsOf(statement: string): readonly string[] {
  let found = known.get(statement);
  if (!found) {
    found = distributionFaults(statement);
    known.set(statement, found);
  }
  return found;
}

/** Faults of the statements that the role of the services has sent in this process, by database. */
const faults = new Map<string, string>();
let watched: string | undefined;

/** Has every statement of a role checked from now on; in tests only. */
export function watchStatements(role: string): void {
  if (watched === role) return;
  watched = role;
  const { query: send } = pg.Client.prototype;
  pg.Client.prototype.query = function checked(this: pg.Client, ...words: unknown[]) {
    const [query] = words as [string | { text?: string; statements?: { text: string }[] } | undefined];
    // Several are sent together by platform/database/send-together.ts.
    const sent = typeof query === 'object' ? (query.statements ?? [query]) : [{ text: query }];
    for (const { text } of this.user === role ? sent : []) {
      if (text === undefined) continue;
      for (const fault of faultsOf(text)) faults.set(this.database ?? '', `${fault}: ${text}`);
    }
    return (send as (...all: unknown[]) => unknown).apply(this, words);
  } as typeof send;
}

/**
 * @param database as its connections name it
 * @throws Error with a fault of the statements so far
 */
export function checkWatched(database: string): void {
  const fault = faults.get(database);
  if (fault !== undefined) throw new Error(`a statement that cannot run on distributed tables: ${fault}`);
}
