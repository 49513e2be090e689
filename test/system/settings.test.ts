import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { emptyDataDir } from '../helpers/data-dir.ts';
import { administer, dropDatabase, type TestDatabase, testDatabase } from '../helpers/database.ts';
import { testWith } from '../helpers/debian.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runToEnd, startProcess } from '../helpers/process.ts';

const testWithCurl = await testWith('curl');
const run = promisify(execFile);

let database: TestDatabase;
let databaseUrl: string;
beforeAll(async () => {
  database = await testDatabase();
  databaseUrl = urlOf(database.connection);
});
afterAll(() => database.drop());

function urlOf({ host, port, user, password, database: name }: TestDatabase['connection']): string {
  return `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
}

/** Starts and stops; returns what was printed, and the warnings among it. */
async function startAndStop(environment: Record<string, string>) {
  const service = await startProcess({ DATABASE_URL: databaseUrl, ...environment });
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  const lines = service.log().split('\n').filter(Boolean);
  const logged = lines.map(line => JSON.parse(line) as { level: string; msg: string });
  const warnings = logged.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
  return { output: service.output(), warnings };
}

test('a start warns once of a misspelt setting, by its name alone', async () => {
  const { output, warnings } = await startAndStop({ AUTHMODE: 'hunter2' });
  const ofSettings = (list: string[]) => list.filter(warning => warning.includes('environment variable'));
  expect(ofSettings(warnings)).toEqual([
    'the environment variable AUTHMODE is not a setting; did you mean AUTH_MODE?',
  ]);
  expect(output).not.toContain('hunter2');
  expect(ofSettings((await startAndStop({})).warnings)).toEqual([]);
});

test('a start warns of links in emails and QR codes that other machines cannot open', async () => {
  const linkWarnings = async (environment: Record<string, string>) =>
    (await startAndStop(environment)).warnings.filter(warning => warning.startsWith('links'));
  const [trace, packet, console] = await linkWarnings({ HOST: '0.0.0.0' });
  expect(trace).toMatch(
    /^links in emails and QR codes of labels start with http:\/\/0\.0\.0\.0:\d+, which other machines cannot open \(HOST is 0\.0\.0\.0\): set TRACE_PUBLIC_URL$/,
  );
  expect(packet).toMatch(/^links in emails start with http:\/\/0\.0\.0\.0:\d+, .*: set PUBLIC_URL$/);
  expect(console).toMatch(/^links in emails start with http:\/\/0\.0\.0\.0:\d+, .*: set CONSOLE_PUBLIC_URL$/);
  const publicUrl = { PUBLIC_URL: 'https://field.example' };
  expect(
    await linkWarnings({ HOST: '0.0.0.0', ...publicUrl, TRACE_PUBLIC_URL: 'http://localhost:8080' }),
  ).toEqual([
    expect.stringMatching(/^links in emails and QR codes of labels start with http:\/\/localhost:8080,/),
  ]);
  const proxied = { TRUST_PROXY: 'true', ...publicUrl };
  expect(await linkWarnings(proxied)).toEqual([
    expect.stringMatching(/127\.0\.0\.1:\d+.*: set TRACE_PUBLIC_URL$/),
  ]);
  expect(await linkWarnings({ ...proxied, TRACE_PUBLIC_URL: 'https://trace.example' })).toEqual([]);
  const consoleHere = { CONSOLE_PUBLIC_URL: 'http://localhost:8090' };
  expect(
    await linkWarnings({ ...proxied, TRACE_PUBLIC_URL: 'https://trace.example', ...consoleHere }),
  ).toEqual([expect.stringMatching(/set CONSOLE_PUBLIC_URL$/)]);
  expect(await linkWarnings({ HOST: '127.0.0.1' })).toEqual([]);
});

test('a role that cannot create schemas is shown the GRANT it needs, and starts after it', async () => {
  const server = inject('databaseServer');
  const name = `Late ${randomUUID()}`;
  await administer(server, `CREATE DATABASE "${name}"`);
  const rights = `CREATE ON DATABASE "${name}"`;
  await administer(server, `REVOKE ${rights} FROM "${server.user}"`);
  const url = urlOf({ ...server, database: encodeURIComponent(name) });
  const { code, output } = await runToEnd({ DATABASE_URL: url, LOG_LEVEL: 'silent' });
  const said =
    /^fieldtrace cannot start: DATABASE_URL: the role cannot create the schema trace_backend or tables in it; the owner of the database must run: (GRANT .*;)\n$/;
  expect([code, output]).toEqual([1, expect.stringMatching(said)]);
  const grant = said.exec(output)?.[1] as string;
  expect(grant).toBe(`GRANT ${rights} TO "${server.user}";`);
  await administer(server, grant);
  const service = await startProcess({ DATABASE_URL: url });
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  // Its schemas are there: nothing more has to be made.
  await administer(server, `REVOKE ${rights} FROM "${server.user}"`);
  const again = await startProcess({ DATABASE_URL: url });
  again.child.kill('SIGTERM');
  expect(await again.ended, again.output()).toBe(0);
  await dropDatabase(server, name);
});

/** The commands that a start shows, as they are to be pasted. */
function commandsOf(output: string): string {
  return output.slice(output.search(/^(Send a|Log in)/m)).replace(/^.*\n/, '');
}

testWithCurl('the first request that a start shows works in every AUTH_MODE', async () => {
  const { folder, remove } = await temporaryFolder();
  // As root, PostgreSQL runs as another user, who must reach its files.
  await chmod(folder, 0o755);
  const secret = 'a secret of more than thirty-two bytes';
  const token = await new SignJWT({ type: 'access' })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject('ana')
    .setIssuedAt()
    .setExpirationTime('5 minutes')
    .sign(Buffer.from(secret));
  const [mine, other] = ["Ana's data", 'b'].map(name => path.join(folder, name)) as [string, string];
  await Promise.all([mine, other].map(emptyDataDir));
  const own = { DATABASE_URL: '', DATA_DIR: mine };
  const chosen = { TRACE_ADMIN_EMAIL: 'admin@example.org', TRACE_ADMIN_PASSWORD: 'an administrator' };
  const cases: { settings: Record<string, string>; typed?: string; variables?: Record<string, string> }[] = [
    { settings: { AUTH_MODE: 'off' } },
    { settings: { AUTH_MODE: 'optional' } },
    { settings: { AUTH_MODE: 'required', ...own } },
    {
      settings: { AUTH_MODE: 'required', ...chosen, DATABASE_URL: '', DATA_DIR: other },
      typed: 'an administrator\n',
    },
    {
      settings: { AUTH_MODE: 'required', SERVICES: 'packet', USER_REGISTRY_JWT_SECRET: secret },
      variables: { token },
    },
  ];
  for (const { settings, typed = '', variables } of cases) {
    const service = await startProcess({ DATABASE_URL: databaseUrl, ...settings });
    const promise = run('sh', ['-ec', commandsOf(service.output())], {
      env: { PATH: process.env.PATH, ...variables } as NodeJS.ProcessEnv,
    });
    promise.child.stdin?.end(typed);
    expect((await promise).stdout, service.output()).toMatch(
      /(^|Password: )\{"packet_uuid":"[0-9A-Z]{26}"\}$/,
    );
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  }
  await remove();
});
