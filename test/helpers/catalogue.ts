import type pg from 'pg';

/**
 * Columns of the system catalogues that say how and when tables were stored, not what they are. A column that was added
 * with a default has its value for the rows of before (atthasmissing, attmissingval).
 */
const STORAGE: Record<string, string[]> = {
  pg_class: [
    'relfilenode',
    'relpages',
    'reltuples',
    'relallvisible',
    'relallfrozen',
    'relfrozenxid',
    'relminmxid',
  ],
  pg_attribute: ['atthasmissing', 'attmissingval'],
  pg_database: ['datname', 'datfrozenxid', 'datminmxid', 'datconnlimit'],
};
/** Catalogues of measurements of rows. */
const MEASURED = ['pg_statistic', 'pg_statistic_ext_data'];
/** The catalogues shared by all databases of a server that have rows about one database, and its column. */
const SHARED: Record<string, string> = {
  pg_database: 'oid',
  pg_db_role_setting: 'setdatabase',
  pg_shdepend: 'dbid',
};
/** Columns with an object of any catalogue, and those that name the catalogue and the part of the object. */
const ANY_OBJECT: Record<string, [catalogue: string, part: string]> = {
  objid: ['classid', 'objsubid'],
  refobjid: ['refclassid', 'refobjsubid'],
  objoid: ['classoid', 'objsubid'],
};
/** How an expression is written as SQL; parsed, it has the ids of objects. */
const AS_SQL: Record<string, string> = {
  'pg_attrdef.adbin': 'pg_get_expr(t.adbin, t.adrelid)',
  'pg_class.relpartbound': 'pg_get_expr(t.relpartbound, t.oid)',
  'pg_constraint.conbin': 'pg_get_constraintdef(t.oid)',
  'pg_index.indexprs': 'pg_get_expr(t.indexprs, t.indrelid)',
  'pg_index.indpred': 'pg_get_expr(t.indpred, t.indrelid)',
  'pg_partitioned_table.partexprs': 'pg_get_expr(t.partexprs, t.partrelid)',
  'pg_policy.polqual': 'pg_get_expr(t.polqual, t.polrelid)',
  'pg_policy.polwithcheck': 'pg_get_expr(t.polwithcheck, t.polrelid)',
  'pg_proc.proargdefaults': 'pg_get_function_arguments(t.oid)',
  'pg_proc.prosqlbody': 'pg_get_function_sqlbody(t.oid)',
  'pg_publication_rel.prqual': 'pg_get_expr(t.prqual, t.prrelid)',
  'pg_rewrite.ev_action': 'pg_get_ruledef(t.oid)',
  'pg_rewrite.ev_qual': 'pg_get_ruledef(t.oid)',
  'pg_statistic_ext.stxexprs': 'pg_get_expr(t.stxexprs, t.stxrelid)',
  'pg_trigger.tgqual': 'pg_get_triggerdef(t.oid)',
  'pg_type.typdefaultbin': 'pg_get_expr(t.typdefaultbin, 0)',
};

interface Column {
  catalogue: string;
  name: string;
  type: string;
  /** catalogue of the objects that it names, if it names any */
  names: string | null;
  isArray: boolean | null;
}

const COLUMNS = `
  SELECT relname AS catalogue, attname AS name, atttypid::regtype::text AS type, pktable::regclass::text AS names,
    is_array AS "isArray"
  FROM pg_class AS c
  JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
  LEFT JOIN pg_get_catalog_foreign_keys() ON fktable = c.oid AND fkcols = ARRAY[attname::text] AND pkcols = '{oid}'
  WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r' AND relname <> ALL ($1)
    AND (NOT relisshared OR relname = ANY ($2)) AND has_table_privilege(c.oid, 'SELECT')
  ORDER BY relname, attnum`;

/**
 * Everything that the system catalogues say about a database, a line for each row: tables, columns in their order,
 * types, defaults, constraints, indexes, functions, triggers, comments, settings, owners, rights, dependencies. Objects
 * are named, so that the lines of two databases can be compared.
 *
 * @param without catalogues that are left out
 */
export async function catalogueOf(client: pg.ClientBase, without: readonly string[] = []): Promise<string[]> {
  await client.query('SET search_path = pg_catalog');
  const left = [...MEASURED, ...without];
  const { rows: columns } = await client.query<Column>(COLUMNS, [left, Object.keys(SHARED)]);
  const lines: string[] = [];
  for (const [catalogue, its] of Map.groupBy(columns, column => column.catalogue)) {
    const about = SHARED[catalogue];
    const kept = its.filter(({ name }) => ![...(STORAGE[catalogue] ?? []), 'oid', about].includes(name));
    const ours = 'SELECT oid FROM pg_database WHERE datname = current_database()';
    const { rows } = await client.query(`
      SELECT ${kept.map(column => `(${expressionOf(column)})::text AS ${column.name}`).join(', ')}
      FROM ${catalogue} AS t ${about ? `WHERE ${about} = (${ours})` : ''}`);
    lines.push(...rows.map(row => `${catalogue} ${JSON.stringify(row)}`));
  }
  const { rows: tables } = await client.query(
    'SELECT oid::text, oid::regclass::text AS name, current_database() AS database FROM pg_class',
  );
  const names = new Map(tables.map(({ oid, name }) => [oid, name]));
  return lines
    .map(line =>
      line
        .replaceAll(/pg_toast_(\d+)/g, (_, oid) => `toast of ${names.get(oid)}`)
        .replaceAll(/(RI_ConstraintTrigger_[ac]|truncate_trigger)_\d+/g, '$1')
        .replaceAll(tables[0].database, 'this database'),
    )
    .sort();
}

function expressionOf({ catalogue, name, type, names, isArray }: Column): string {
  const written = AS_SQL[`${catalogue}.${name}`];
  if (written) return written;
  const identity = (of: string, object: string, part = '0') =>
    `SELECT identity FROM pg_identify_object(${of}, ${object}, ${part})`;
  const any = ANY_OBJECT[name];
  if (any) {
    const isWhole = catalogue === 'pg_shdepend' && name === 'refobjid';
    return identity(`t.${any[0]}`, `t.${name}`, isWhole ? '0' : `t.${any[1]}`);
  }
  if (names === null) return `t.${name}${type === 'anyarray' ? '::text' : ''}`;
  if (!isArray) return identity(`'${names}'::regclass`, `t.${name}`);
  return `
    SELECT array_agg((${identity(`'${names}'::regclass`, 'object')}) ORDER BY place)
    FROM unnest(t.${name}::oid[]) WITH ORDINALITY AS listed (object, place)`;
}

const TABLES = `
  SELECT c.oid::regclass::text AS name, relkind AS kind FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
  WHERE nspname <> ALL ('{pg_catalog,information_schema,pg_toast}') AND relkind IN ('r', 'p', 'S') ORDER BY 1`;

/**
 * The rows of all tables and the state of all sequences, a line for each.
 *
 * @param without columns whose values differ from database to database, by table
 */
export async function rowsOf(
  client: pg.ClientBase,
  without: Readonly<Record<string, readonly string[]>>,
): Promise<string[]> {
  await client.query('SET search_path = pg_catalog');
  const { rows: tables } = await client.query<{ name: string; kind: string }>(TABLES);
  const lines: string[] = [];
  for (const { name, kind } of tables) {
    const row = kind === 'S' ? 'jsonb_build_array(last_value, is_called)' : 'to_jsonb(t) - $1::text[]';
    const { rows } = await client.query(
      `SELECT (${row})::text AS line FROM ${name} AS t`,
      kind === 'S' ? [] : [without[name] ?? []],
    );
    lines.push(...rows.map(({ line }) => `${name} ${line}`));
  }
  return lines.sort();
}

/** The lines that only one of two databases has, and how many more the first has. */
export function differences(first: readonly string[], second: readonly string[]) {
  const [firsts, seconds] = [new Set(first), new Set(second)];
  return {
    first: [...firsts.difference(seconds)],
    second: [...seconds.difference(firsts)],
    more: first.length - second.length,
  };
}
/** The differences of equal descriptions. */
export const SAME = { first: [], second: [], more: 0 };
