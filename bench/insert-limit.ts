import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Context } from './context.ts';

const CONNECTIONS = 32;
/** The row of insert-loop.ts; pgbench has no clock of its own, so times are counted on. */
const INSERT = `\\set n random(1, 100000000)
INSERT INTO packets (id, geoid, ts, type, thread_id, lat, lon, cell, header, body, footer)
VALUES (gen_random_uuid(), '60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33',
  '2026-01-01'::timestamptz + :n * interval '1 s', 'note', NULL, -1.5, 29.5, :n,
  '{"geoid":"60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33","id":"01KJM6WY0018ZJH6PQQ6B0KHJ8","timestamp":"2026-03-01T08:15:00Z","type":"note"}',
  '{"attachments":[],"capture_point":{"lat":-1.5,"lon":29.5},"crop":"coffee","message":"Coffee rust on the lower leaves, plot 1","severity":1}',
  '{"enc":"none","hash":"60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33","lang":"und"}');
`;

/** A writer of single packet rows, with its rows per second. */
export interface InsertLimit {
  name: string;
  measure(): Promise<number>;
}

/**
 * The limit of intake: the same rows with one transaction each, on 32 connections. By pgbench where it is installed,
 * because it stores more in the same time than the loop in Node (insert-loop.ts), which is used otherwise.
 */
export async function insertLimit(context: Context): Promise<InsertLimit> {
  const run = promisify(execFile);
  const hasPgbench = await run('pgbench', ['--version']).then(
    () => true,
    () => false,
  );
  if (!hasPgbench) {
    return {
      name: `one-row INSERT loop, ${CONNECTIONS} connections`,
      measure: async () => Number(await context.runScript('insert-loop.ts')),
    };
  }
  const { host, port, user, password, database } = context.connection;
  const words = [
    '-n',
    '-M',
    'prepared',
    '-c',
    CONNECTIONS,
    '-j',
    2,
    '-T',
    context.seconds,
    '-h',
    host,
    '-p',
    port,
  ];
  const env = { ...process.env, PGPASSWORD: password, PGOPTIONS: '-c search_path=packet_service' };
  return {
    name: `one-row INSERT by pgbench, ${CONNECTIONS} connections`,
    async measure() {
      const folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-pgbench-'));
      const script = path.join(folder, 'insert.sql');
      await writeFile(script, INSERT);
      const { stdout } = await run('pgbench', [...words.map(String), '-U', user, '-f', script, database], {
        env,
      });
      await rm(folder, { recursive: true });
      return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
    },
  };
}
