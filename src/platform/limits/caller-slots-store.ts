import sql from 'sql-template-tag';
import type { Database } from '../database/database.ts';

/** Seconds for which a process counts as alive after it has said so. */
const LEASE_SECONDS = 10;
/** Rows that one clean-up removes, at most; the next one removes more. */
const MAX_REMOVED = 10_000;
/** Attempts to take a free slot that others take at the same time. */
const ATTEMPTS = 10;

/** What a slot is for: a kind of work, such as uploads, and the caller. */
export interface SlotKind {
  kind: string;
  caller: string;
}

/** Records a process that serves, in place of the id that it had before. */
export async function insertProcess(
  database: Database,
  id: string,
  earlier: string | undefined,
): Promise<void> {
  await database.query(sql`
    WITH earlier AS (DELETE FROM serving_processes WHERE id = ${earlier ?? null}::uuid)
    INSERT INTO serving_processes (id, until)
    VALUES (${id}, clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))`);
}

/** Says that a process is alive; returns whether it is still recorded. */
export async function renewProcess(database: Database, id: string): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE serving_processes SET until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    WHERE id = ${id}`);
  return rowCount === 1;
}

/**
 * Removes processes that have not said that they are alive, and slots of processes that are not recorded. A slot is
 * visible only if the earlier commit of its process is.
 */
export async function removeDead(database: Database): Promise<void> {
  await database.query(sql`
    DELETE FROM serving_processes WHERE id = ANY (ARRAY(
      SELECT id FROM serving_processes WHERE until < clock_timestamp() FOR UPDATE SKIP LOCKED))`);
  await database.query(sql`
    DELETE FROM caller_places WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM caller_places
      WHERE NOT EXISTS (SELECT FROM serving_processes WHERE id = process)
      LIMIT ${MAX_REMOVED} FOR UPDATE SKIP LOCKED))`);
}

/** Removes a process that stops, with its slots. */
export async function removeProcess(database: Database, id: string): Promise<void> {
  await database.query(sql`
    WITH process AS (DELETE FROM serving_processes WHERE id = ${id})
    DELETE FROM caller_places WHERE process = ${id}`);
}

/** Takes one of `most` slots for a process; returns its number, undefined if all are taken. */
export async function takeSlot(
  database: Database,
  { kind, caller, most }: SlotKind & { most: number },
  process: string,
): Promise<number | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { rows } = await database.query<{ free: number | null; taken: number | null }>(sql`
      WITH free AS (
        SELECT slot FROM generate_series(1, ${most}::int) AS slot
        WHERE NOT EXISTS (
          SELECT FROM caller_places AS place
          WHERE kind = ${kind} AND caller = ${caller} AND place.slot = slot.slot)
        ORDER BY random() LIMIT 1
      ), taken AS (
        INSERT INTO caller_places (kind, caller, slot, process)
        SELECT ${kind}, ${caller}, slot, ${process} FROM free ON CONFLICT DO NOTHING RETURNING slot
      )
      SELECT (SELECT slot FROM free) AS free, (SELECT slot FROM taken) AS taken`);
    const [attempted] = rows;
    if (attempted?.taken != null) return attempted.taken;
    if (attempted?.free == null) return undefined;
  }
  return undefined;
}

/** Frees a slot that a process has. */
export async function freeSlot(
  database: Database,
  { kind, caller, number }: SlotKind & { number: number },
  process: string,
): Promise<void> {
  await database.query(sql`
    DELETE FROM caller_places
    WHERE kind = ${kind} AND caller = ${caller} AND slot = ${number} AND process = ${process}`);
}
