import sql from 'sql-template-tag';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { openLists } from '../lists/lists.ts';
import { listPage } from './answers.ts';
import { removeRecord, saveRecord, type Use } from './changes.ts';
import * as records from './store.ts';

/** A plain record over a table that the service has. */
interface Record extends records.Versioned {
  name: string;
  status: string;
}
const TABLE: records.RecordTable = { name: 'value_chains', columns: { name: 'name', status: 'status' } };
const unknown = () => new Problem('value_chain.unknown');

let trace: RunningTrace;
let userId: number;
beforeAll(async () => {
  trace = await runningTrace();
  ({ id: userId } = await trace.loggedIn());
});
afterAll(() => trace.stop());

const requester = (ifMatch?: string) => ({
  caller: { id: userId, role: 'USER' as const, sessionId: undefined, secondFactor: false },
  ip: '127.0.0.1',
  ifMatch,
});

const save = (id: number | undefined, name: string, ifMatch?: string) =>
  saveRecord<Record, string>(trace.pool, requester(ifMatch), id, {
    lock: async (database, id) => (id === undefined ? undefined : records.lockRow(database, TABLE, id)),
    unknown,
    change: async (_database, before) => ({ after: name, fields: before?.name === name ? [] : ['name'] }),
    async store(database, before, { after }, at) {
      const more = { folded: after };
      const created = { ...more, created_by: userId };
      if (!before) return records.insertRow(database, TABLE, { name: after, status: 'ENABLED' }, at, created);
      const next = { ...more, version: before.version + 1 };
      await records.updateRow(database, TABLE, { ...before, name: after }, at, next);
      return before.id;
    },
    event: (after, fields) => ({
      action: fields ? 'UPDATE_VALUE_CHAIN' : 'CREATE_VALUE_CHAIN',
      entity: 'value-chain',
      details: fields ? { fields } : { name: after },
    }),
  });
const found = (id: number) => records.findRow<Record>(trace.pool, TABLE, id);
const audited = async (id: number) => {
  const { rows } = await trace.pool.query(
    "SELECT action FROM audit WHERE entity = 'value-chain' AND entity_id = $1 ORDER BY id",
    [String(id)],
  );
  return rows.map(({ action }) => action);
};
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Problem) => error.message,
  );

test('a change creates a version and an audit entry; one without effect creates neither', async () => {
  const id = await save(undefined, 'tea');
  expect(await found(id)).toEqual({ id, version: 1, name: 'tea', status: 'ENABLED' });
  expect(await save(id, 'green tea', '"1"')).toBe(id);
  expect(await save(id, 'green tea', '"2"')).toBe(id);
  expect(await found(id)).toMatchObject({ version: 2, name: 'green tea' });
  expect(await audited(id)).toEqual(['CREATE_VALUE_CHAIN', 'UPDATE_VALUE_CHAIN']);
});

test('a change of a different version than the sender has read, or of an unknown record, stores nothing', async () => {
  const id = await save(undefined, 'cocoa');
  expect(await reasonOf(save(id, 'nut', '"7"'))).toMatch(/changed/);
  expect(await reasonOf(save(999_999, 'nut'))).toBe(unknown().message);
  expect(await found(id)).toMatchObject({ version: 1, name: 'cocoa' });
});

test('a record that others refer to is not deleted, and the error names them', async () => {
  const id = await save(undefined, 'coffee');
  const remove = (uses: Use[]) =>
    removeRecord<Record>(trace.pool, requester(), id, {
      lock: (database, id) => records.lockRow(database, TABLE, id),
      unknown,
      noun: 'value chain',
      findUses: async () => uses,
      remove: (database, id) => records.deleteRow(database, TABLE, id),
      event: ({ name }) => ({ action: 'DELETE_VALUE_CHAIN', entity: 'value-chain', details: { name } }),
    });
  const uses = [
    { noun: 'company', name: 'Hills', count: 1 },
    { noun: 'product', name: 'Beans', count: 3 },
  ];
  expect(await reasonOf(remove(uses))).toBe(
    'the value chain is in use by the company "Hills" and 3 of kind product, such as "Beans"',
  );
  expect(await found(id)).toBeDefined();
  await remove([]);
  expect([await found(id), (await audited(id)).at(-1)]).toEqual([undefined, 'DELETE_VALUE_CHAIN']);
});

test('rows are listed in pages, counted, and exported with their columns', async () => {
  const ids = [
    await save(undefined, 'page a'),
    await save(undefined, 'page b'),
    await save(undefined, 'page c'),
  ];
  const where = sql`name LIKE 'page %'`;
  const page = await listPage(
    { limit: 2, sort: 'ASC' },
    ['id'],
    page => records.listRows<Record>(trace.pool, openLists(), TABLE, page, { filter: {}, where, key: 'id' }),
    rows => rows.map(({ name }) => name),
  );
  expect(page).toEqual({ items: ['page a', 'page b'], count: 3, offset: 0, limit: 2 });
  expect(await records.countRowsWhere(trace.pool, TABLE, where)).toBe(3);
  expect((await records.findRows<Record>(trace.pool, TABLE, ids.toReversed())).map(({ id }) => id)).toEqual(
    ids.toReversed(),
  );
  const { rows } = await trace.pool.query(records.personalRows(TABLE, sql`description`, where));
  expect(rows[0]).toMatchObject({ id: ids[0], name: 'page a', status: 'ENABLED', description: null });
  expect(rows).toHaveLength(3);
});
