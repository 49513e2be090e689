import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { programPath } from './debian.ts';
import { eventually } from './eventually.ts';
import { accepts, freePort } from './free-port.ts';

/** nobody: PostgreSQL refuses to run as root. */
const ACCOUNT = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/**
 * Starts PostgreSQL of Debian's archive on loopback, with an empty database that a role of its own owns. Its locale is not
 * the embedded server's.
 *
 * @param folder a folder that every user may enter; the server's data are in `server`
 */
export async function startDebianPostgres(
  folder: string,
): Promise<{ url: string; version: string; stop: () => Promise<void> }> {
  // What is on the PATH may be a link to the programs of one version.
  const bin = path.dirname(realpathSync(programPath('initdb')));
  const data = path.join(folder, 'server');
  mkdirSync(data, { mode: 0o700 });
  if (ACCOUNT.uid !== undefined) chownSync(data, ACCOUNT.uid, ACCOUNT.gid);
  const words = ['-D', data, '-U', 'postgres', '-A', 'trust', '--locale=C.UTF-8', '--no-sync'];
  execFileSync(path.join(bin, 'initdb'), words, { ...ACCOUNT, cwd: folder, stdio: 'pipe' });
  const port = await freePort();
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', data, '-F'];
  const child = spawn(path.join(bin, 'postgres'), options, { ...ACCOUNT, stdio: 'ignore' });
  const ended = new Promise(resolve => child.once('close', resolve));
  await eventually(() => accepts(port));
  const sql = async (text: string) => {
    const client = new pg.Client({ host: data, port, user: 'postgres', database: 'postgres' });
    await client.connect();
    return client.query(text).finally(() => client.end());
  };
  await eventually(() => sql('SELECT 1').catch(() => undefined));
  await sql("CREATE ROLE field LOGIN PASSWORD 'field'");
  await sql('CREATE DATABASE field OWNER field');
  return {
    url: `postgres://field:field@127.0.0.1:${port}/field`,
    version: (await sql('SHOW server_version')).rows[0].server_version,
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
  };
}
