import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type Connection, openPool } from '../../src/platform/database/database.ts';
import { errorCode, passingTrouble } from '../../src/platform/database/troubles.ts';
import { ABSENT, allowedStates, type Claim, type Fact, type Kind } from './ledger.ts';

/** The faults of acknowledged data, in words; empty lists are the goal. */
export interface Findings {
  /** acknowledged and not there */
  lost: string[];
  /** there more than once */
  doubled: string[];
  /** there, and not as it was acknowledged last */
  changed: string[];
}

export const nothingWrong = (): Findings => ({ lost: [], doubled: [], changed: [] });

/** Attempts to find a packet's position in the log, which it gets soon after its answer. */
const LOG_TRIES = 200;
const LOG_PAUSE_MS = 50;
/** Attempts to reach the database after a fault. */
const DATABASE_TRIES = 60;
const DATABASE_PAUSE_MS = 500;
/** Rows that are asked for in one statement. */
const ROWS = 5000;

interface Row {
  id: string;
  /** how many there are of it, or of what belongs to it once */
  count: number;
  state: string;
}

/** The stored records by id, with their number and state. Packets with a wrong hash are left out. */
const FIND: Record<Kind, string> = {
  packet: `SELECT id::text, 1 AS count, CASE WHEN footer::json->>'hash' = encode(sha256(convert_to(header || body, 'UTF8')), 'hex')
      THEN body::json->>'mark' ELSE 'its hash is another' END AS state
    FROM packet_service.packets WHERE id = ANY ($1::uuid[])`,
  thread: `SELECT thread_id::text AS id, 1 AS count, name || ': ' || (SELECT string_agg(user_id, ', ' ORDER BY user_id)
      FROM packet_service.chat_participants WHERE thread_id = chat_threads.thread_id) AS state
    FROM packet_service.chat_threads WHERE thread_id = ANY ($1::uuid[])`,
  share: `SELECT share_id::text AS id, status AS state, (SELECT coalesce(max(times), 0)::int FROM (SELECT count(*) AS times
      FROM packet_service.notifications WHERE share_id = shares.share_id GROUP BY type) AS told) AS count
    FROM packet_service.shares WHERE share_id = ANY ($1::uuid[])`,
  directory: `SELECT user_id AS id, 1 AS count, discoverable || ' ' || (SELECT string_agg(contact ||
        CASE WHEN confirmed_at IS NULL THEN ' claimed' ELSE ' confirmed' END, ', ' ORDER BY contact)
      FROM packet_service.directory_contacts WHERE user_id = directory_users.user_id) AS state
    FROM packet_service.directory_users WHERE user_id = ANY ($1::text[])`,
  field: `SELECT geoid AS id, 1 AS count, (boundary::json->'coordinates')::text AS state FROM packet_service.fields
    WHERE geoid = ANY ($1::text[])`,
  attachment: `SELECT attachment_id::text AS id, 1 AS count, name || ' ' || size AS state
    FROM packet_service.attachments WHERE attachment_id = ANY ($1::uuid[])`,
  upload: `SELECT upload_id::text AS id, 1 AS count, received || ' of ' || length AS state
    FROM packet_service.attachment_uploads WHERE upload_id = ANY ($1::uuid[])`,
  user: `SELECT email_key AS id, 1 AS count, status || ' ' || name AS state FROM trace_backend.users
    WHERE email_key = ANY ($1::text[]) AND erasing_at IS NULL`,
  session: `SELECT id::text, 1 AS count, 'open' AS state FROM trace_backend.sessions WHERE id = ANY ($1::uuid[])`,
  key: `SELECT id::text, 1 AS count, name AS state FROM trace_backend.api_keys WHERE id = ANY ($1::uuid[])`,
  factor: `SELECT email_key AS id, 1 AS count, CASE WHEN confirmed_at IS NULL THEN 'begun' ELSE 'confirmed ' ||
        (SELECT count(*) FROM trace_backend.recovery_codes WHERE user_id = users.id) END AS state
    FROM trace_backend.second_factors JOIN trace_backend.users ON users.id = user_id WHERE email_key = ANY ($1::text[])`,
  company: `SELECT id::text, 1 AS count, status || ' ' || name AS state FROM trace_backend.companies
    WHERE id = ANY ($1::int[])`,
  member: `SELECT company_id || ' ' || user_id AS id, count(*)::int AS count, min(role) AS state FROM (
      SELECT company_id, user_id, role FROM trace_backend.company_users
      UNION ALL SELECT company_id, user_id, 'invited' FROM trace_backend.company_invitations) AS members
    WHERE company_id || ' ' || user_id = ANY ($1::text[]) GROUP BY company_id, user_id`,
  product: `SELECT id::text, 1 AS count, name || ' ' || (SELECT count(*) FROM trace_backend.product_companies
      WHERE product_id = products.id) AS state FROM trace_backend.products WHERE id = ANY ($1::int[])`,
  label: `SELECT id::text, 1 AS count, status || ' ' || (content->>'title') AS state FROM trace_backend.product_labels
    WHERE id = ANY ($1::int[])`,
  batch: `SELECT id::text, 1 AS count, number AS state FROM trace_backend.label_batches WHERE id = ANY ($1::int[])`,
  currency: `SELECT code AS id, 1 AS count, enabled::text AS state FROM trace_backend.currency_types
    WHERE code = ANY ($1::text[])`,
  rate: `SELECT code || ' ' || date AS id, 1 AS count, trim_scale(value)::text AS state
    FROM trace_backend.currency_rates WHERE code || ' ' || date = ANY ($1::text[])`,
  code: `SELECT key AS id, count(*)::int AS count, min(state) AS state FROM (
      SELECT code AS key, label AS state FROM trace_backend.facility_types
      UNION ALL SELECT code, label FROM trace_backend.measure_unit_types
      UNION ALL SELECT code, label FROM trace_backend.processing_evidence_types
      UNION ALL SELECT field_name, label FROM trace_backend.processing_evidence_fields
      UNION ALL SELECT 'semi-product ' || id, name FROM trace_backend.semi_products
      UNION ALL SELECT code, name FROM trace_backend.product_types) AS codes
    WHERE key = ANY ($1::text[]) GROUP BY key`,
  'value-chain': `SELECT id::text, 1 AS count, status || ' ' || name || ' ' || (SELECT count(*)
      FROM trace_backend.value_chain_facility_types WHERE value_chain_id = value_chains.id) AS state
    FROM trace_backend.value_chains WHERE id = ANY ($1::int[])`,
  setting: `SELECT name AS id, 1 AS count, value AS state FROM trace_backend.global_settings
    WHERE name = ANY ($1::text[])`,
  // Reports are counted more than once where an answer was lost.
  'label-requests': `SELECT label_id::text AS id, 1 AS count, 'counted' AS state FROM trace_backend.label_requests
    WHERE label_id = ANY ($1::int[])`,
  file: `SELECT storage_key::text AS id, 1 AS count, name || ' ' || size AS state FROM trace_backend.images
    WHERE storage_key = ANY ($1::uuid[])`,
};

/** How often packets are in the log, which is on the coordinator of a cluster. */
const LOGGED = `SELECT packet_id::text AS id, count(*)::int AS count FROM packet_service.packet_log
  WHERE packet_id = ANY ($1::uuid[]) GROUP BY packet_id`;

/** Marks of which there are several rows, acknowledged or not: each is sent by one client, under one key or once. */
const DOUBLED: Partial<Record<Kind, string>> = {
  packet: `SELECT body::json->>'mark' AS mark FROM packet_service.packets WHERE body LIKE '%"mark":%'
    GROUP BY 1 HAVING count(*) > 1`,
  thread: 'SELECT created_by AS mark FROM packet_service.chat_threads GROUP BY 1 HAVING count(*) > 1',
  share: 'SELECT contact AS mark FROM packet_service.shares GROUP BY 1 HAVING count(*) > 1',
  // What came by an upload may be begun twice, and completed once.
  attachment: 'SELECT name AS mark FROM packet_service.attachments GROUP BY 1 HAVING count(*) > 1',
  company:
    "SELECT split_part(name, ' ', 1) AS mark FROM trace_backend.companies GROUP BY 1 HAVING count(*) > 1",
  product:
    "SELECT split_part(name, ' ', 1) AS mark FROM trace_backend.products GROUP BY 1 HAVING count(*) > 1",
  label: `SELECT split_part(content->>'title', ' ', 1) AS mark FROM trace_backend.product_labels
    GROUP BY 1 HAVING count(*) > 1`,
  batch: `SELECT split_part(number, ' ', 1) AS mark FROM trace_backend.label_batches
    GROUP BY 1 HAVING count(*) > 1`,
  'value-chain':
    "SELECT split_part(name, ' ', 1) AS mark FROM trace_backend.value_chains GROUP BY 1 HAVING count(*) > 1",
  file: 'SELECT name AS mark FROM trace_backend.images GROUP BY 1 HAVING count(*) > 1',
};

/** Where the database is, and the folder that is DATA_DIR. */
export interface DataLocation {
  database: Connection;
  folder: string;
}

/**
 * Compares what was acknowledged with what is there: each record once, in the state acknowledged last or one that was
 * begun since, a packet with one position in the log, the bytes of a file at its path.
 */
export async function checkClaims(location: DataLocation, claims: readonly Claim[]): Promise<Findings> {
  return withPool(location.database, async pool => {
    const findings = nothingWrong();
    for (const [kind, own] of Map.groupBy(claims, ({ fact }) => fact.kind)) {
      for (let at = 0; at < own.length; at += ROWS) {
        const some = own.slice(at, at + ROWS);
        const found = await findRows(pool, kind, some);
        for (const claim of some) judge(claim, found.get(claim.fact.id), findings);
        for (const { fact } of some) if (found.has(fact.id)) await checkFile(location.folder, fact, findings);
      }
    }
    return findings;
  });
}

function judge(claim: Claim, row: Row | undefined, findings: Findings): void {
  const allowed = allowedStates(claim);
  const { kind, id } = claim.fact;
  const state = row?.state ?? ABSENT;
  const what = `${kind} ${id}`;
  if (row && row.count > 1) findings.doubled.push(`${what}: ${row.count} times`);
  if (row?.count === 0) findings.lost.push(`${what}: nothing belongs to it`);
  if (allowed.includes(state)) return;
  if (row === undefined) findings.lost.push(`${what}: ${allowed[0]}`);
  else findings.changed.push(`${what}: ${JSON.stringify(state)} instead of ${JSON.stringify(allowed)}`);
}

async function findRows(
  pool: pg.Pool,
  kind: Kind,
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, Row>> {
  const ids = [...new Set(claims.map(({ fact }) => fact.id))];
  for (let tries = 0; ; tries++) {
    const { rows } = await pool.query<Row>(FIND[kind], [ids]);
    if (kind === 'packet') await countLogged(pool, rows);
    const isLogged =
      kind !== 'packet' || (rows.length === ids.length && rows.every(({ count }) => count > 0));
    if (isLogged || tries === LOG_TRIES) return new Map(rows.map(row => [row.id, row]));
    await wait(LOG_PAUSE_MS);
  }
}

async function countLogged(pool: pg.Pool, packets: Row[]): Promise<void> {
  const { rows } = await pool.query<Pick<Row, 'id' | 'count'>>(LOGGED, [packets.map(({ id }) => id)]);
  const counts = new Map(rows.map(({ id, count }) => [id, count]));
  for (const packet of packets) packet.count = counts.get(packet.id) ?? 0;
}

/** Reads the bytes of what has some. */
async function checkFile(folder: string, { kind, id, sha256 }: Fact, findings: Findings): Promise<void> {
  if (sha256 === undefined) return;
  const key = kind === 'attachment' ? `attachments/${sha256}` : `images/${id}/original`;
  const bytes = await readFile(path.join(folder, 'files', key)).catch(() => undefined);
  if (!bytes) findings.lost.push(`${kind} ${id}: its bytes`);
  else if (hash('sha256', bytes) !== sha256) findings.changed.push(`${kind} ${id}: its bytes`);
}

/** Looks through everything for what is there twice, and for gaps in the log. */
export async function checkAll({ database }: DataLocation): Promise<Findings> {
  return withPool(database, async pool => {
    const findings = nothingWrong();
    for (const [kind, statement] of Object.entries(DOUBLED)) {
      const { rows } = await pool.query<{ mark: string }>(statement);
      findings.doubled.push(...rows.map(({ mark }) => `${kind} ${mark}`));
    }
    const { rows } = await pool.query<{ count: string; last: string }>(
      'SELECT count(*) AS count, coalesce(max(position), 0) AS last FROM packet_service.packet_log',
    );
    if (rows[0]?.count !== rows[0]?.last)
      findings.lost.push(`positions of the log: ${JSON.stringify(rows[0])}`);
    return findings;
  });
}

/** Asks again where a fault strikes in the middle: nothing is found twice, since the findings start from scratch. */
async function withPool(
  connection: Connection,
  check: (pool: pg.Pool) => Promise<Findings>,
): Promise<Findings> {
  for (let tries = 1; ; tries++) {
    const pool = openPool(connection, 'public', 1, { deadline: { ms: 120_000, of: 'statement' } });
    try {
      return await check(pool);
    } catch (error) {
      if (tries === DATABASE_TRIES || !(passingTrouble(error) || errorCode(error) === 'ENOENT')) throw error;
      await wait(DATABASE_PAUSE_MS);
    } finally {
      await pool.end();
    }
  }
}

/** Puts the findings of several checks together. */
export function joinFindings(...parts: readonly Findings[]): Findings {
  const all = (what: keyof Findings) => parts.flatMap(part => part[what]);
  return { lost: all('lost'), doubled: all('doubled'), changed: all('changed') };
}

export function countFindings({ lost, doubled, changed }: Findings): number {
  return lost.length + doubled.length + changed.length;
}
