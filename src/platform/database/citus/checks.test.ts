import { expect, test } from 'vitest';
import { clusterProblems } from './checks.ts';
import { connectionTo, type NodeFacts, nodeName, readNodes } from './nodes.ts';

test('addresses of servers', () => {
  expect(readNodes('db1:5432, [::1]:6000')).toEqual([
    { host: 'db1', port: 5432 },
    { host: '::1', port: 6000 },
  ]);
  expect(nodeName({ host: '::1', port: 6000 })).toBe('[::1]:6000');
  for (const text of ['', 'db1', 'db1:0', 'db1:65536', 'db1:1,db1:1', 'a b:1', 'db1:1,'])
    expect(readNodes(text), text).toBeUndefined();
  const other = { host: '::1', port: 6000 };
  const connectionString = 'postgres://me:pa%20ss@/data?host=%2Ftmp&port=7';
  const there = { ...other, user: 'me', password: 'pa ss', database: 'data' };
  expect(connectionTo({ connectionString }, other)).toMatchObject(there);
  expect(
    connectionTo({ host: '/tmp', port: 7, user: 'me', password: 'pa ss', database: 'data' }, other),
  ).toMatchObject(there);
});

const good: NodeFacts = {
  name: 'db0:5432',
  version: '15.20',
  versionNumber: 150_020,
  encoding: 'UTF8 C.UTF-8',
  isSuperuser: false,
  preloads: true,
  citus: '13.2-1',
  available: '13.2-1',
  walLevel: 'logical',
  maxConnections: 100,
  maxPreparedTransactions: 100,
  freeBytes: 1000 * 1024 * 1024,
};

test.each<[string, Partial<NodeFacts>, string[]]>([
  ['nothing', {}, []],
  ['Citus is missing', { citus: null, available: null }, ['db1:5432: Citus is not installed on the server']],
  [
    'Citus is old',
    { citus: '12.1-1' },
    [
      'db1:5432: Citus 12.1-1 is too old; 13 or newer is required',
      "db1:5432: Citus 12.1-1 differs from the coordinator's 13.2-1",
    ],
  ],
  [
    'the library is not loaded',
    { preloads: false },
    ["db1:5432: shared_preload_libraries must begin with 'citus'; set it and restart the server"],
  ],
  [
    'the extension is missing',
    { citus: null, freeBytes: null },
    ['db1:5432: the database lacks the extension; a superuser must run CREATE EXTENSION citus'],
  ],
  ['a superuser can make the extension', { citus: null, freeBytes: null, isSuperuser: true }, []],
  [
    'settings',
    { walLevel: 'replica' },
    ['db1:5432: wal_level is replica; set it to logical and restart the server'],
  ],
  [
    'settings of transactions',
    { maxPreparedTransactions: 99 },
    [
      'db1:5432: max_prepared_transactions is 99; set it to max_connections (100) or more and restart the server',
    ],
  ],
  [
    'another PostgreSQL',
    { version: '16.1', versionNumber: 160_001 },
    ["db1:5432: PostgreSQL 16.1 differs from the coordinator's 15.20"],
  ],
  [
    'another encoding',
    { encoding: 'UTF8 C' },
    [
      "db1:5432: the database is UTF8 C and the coordinator's is UTF8 C.UTF-8; create it again with the same encoding and collation",
    ],
  ],
  [
    'a full disk',
    { freeBytes: 100 * 1024 * 1024 },
    ['db1:5432: 100 MB of disk are free and 600 MB are needed'],
  ],
])('checks of a worker: %s', (_what, difference, problems) => {
  const worker = { ...good, name: 'db1:5432', ...difference };
  const other = { ...good, name: 'db2:5432' };
  expect(clusterProblems(good, [worker, other], 600 * 1024 * 1024)).toEqual(problems);
});
