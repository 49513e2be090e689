import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, type Stats, statSync } from 'node:fs';
import type { Binaries } from './binaries.ts';
import type { Layout } from './layout.ts';
import { copiedBinaries, moveHome } from './outside.ts';
import { EmbeddedPostgresError } from './refusals.ts';

/** The account that PostgreSQL's programs run as. They refuse to run as root. */
export interface Account {
  /** Prefix of commands: empty, or a command that enters a user namespace. */
  prefix: string[];
  /** For spawn, and on disk the owner of what the server writes; absent: this process's own. */
  uid?: number;
  gid?: number;
}

/**
 * PostgreSQL's programs do not get our environment, because PG… variables and a locale would change their behaviour.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}

/** The account and programs; or the new location of the database, if no account can reach DATA_DIR. */
export type Choice = { account: Account; binaries: Binaries } | { movedTo: string };

/** @throws EmbeddedPostgresError if the data directory belongs to another user and this is not root */
export function refuseForeignCluster(layout: Layout): void {
  const self = process.geteuid?.() ?? 0;
  const owner = statSync(layout.cluster, { throwIfNoEntry: false })?.uid;
  if (self === 0 || owner === undefined || owner === self) return;
  throw new EmbeddedPostgresError(
    `DATA_DIR ${layout.dataDir} cannot be used: ${layout.cluster} belongs to user ${owner} and this is user ` +
      `${self}; run fieldtrace as the user who created it, or as root.`,
  );
}

/**
 * An existing data directory decides by its owner (refuseForeignCluster comes first). Else it is the first that can
 * reach both DATA_DIR and the programs of: this user; when this is root, the owner of DATA_DIR, an account made for
 * PostgreSQL, nobody; and then this user inside a user namespace, where it is called nobody (root in a clone under a
 * 0700 home). Where root finds none, programs and a new database go into the system directory (outside.ts).
 * @throws EmbeddedPostgresError if that is impossible too
 */
export function chooseAccount(layout: Layout, binaries: Binaries, system: string): Choice {
  const self = process.geteuid?.() ?? 0;
  const owner = statSync(layout.cluster, { throwIfNoEntry: false });
  if (self !== 0 && owner !== undefined) return { account: { prefix: [] }, binaries };
  const candidates = self === 0 ? candidatesOfRoot(layout, owner) : [{ prefix: [] }, ...inNamespace()];
  const reaches = (program: string | undefined) => (account: Account) =>
    canReach(account, layout.home, program, owner === undefined);
  const account = candidates.find(reaches(binaries.postgres));
  if (account !== undefined) return { account, binaries };
  refuseBroken(binaries.postgres);
  const others = candidates.filter(({ uid }) => uid !== undefined);
  if (others.some(reaches(undefined))) {
    const copied = copiedBinaries(binaries, system);
    const account = copied && others.find(reaches(copied.postgres));
    if (account) return { account, binaries: copied };
  } else if (others.length > 0) {
    const movedTo = moveHome(layout, system);
    if (movedTo !== undefined) return { movedTo };
  }
  throw refusal(layout, binaries, self, owner);
}

function candidatesOfRoot(layout: Layout, owner: Stats | undefined): Account[] {
  const uids = owner === undefined ? [statSync(layout.dataDir), ...namedAccounts()] : [owner];
  const others = uids.filter(({ uid }) => uid !== 0).map(({ uid, gid }) => ({ prefix: [], uid, gid }));
  return owner === undefined || owner.uid === 0 ? [...others, ...inNamespace()] : others;
}

function namedAccounts(): { uid: number; gid: number }[] {
  return ['postgres', '_postgres', 'nobody'].map(accountNamed).filter(account => account !== undefined);
}

function accountNamed(name: string): { uid: number; gid: number } | undefined {
  if (!existsSync('/etc/passwd')) return undefined;
  for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
    const [user, , uid, gid] = line.split(':');
    if (user === name) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

/** This user under another name: pids and files stay what they are, only PostgreSQL sees no root. Linux only. */
function inNamespace(): Account[] {
  const nobody = process.platform === 'linux' ? accountNamed('nobody') : undefined;
  if (nobody === undefined) return [];
  // unshare becomes the command: the process that we spawn is the server itself and gets our signals.
  return [{ prefix: ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, '--'] }];
}

/**
 * Tested, not computed from mode bits, because access lists, mount options and kernel policies matter too.
 * @param program undefined when only the directory counts
 * @param toInitialise initdb, and only initdb, requires its user to have a name, which containers often lack
 */
function canReach(
  account: Account,
  directory: string,
  program: string | undefined,
  toInitialise: boolean,
): boolean {
  const attempt = [...(toInitialise ? ['id -un'] : []), 'cd -- "$1"', ...(program ? ['exec "$2" -V'] : [])];
  const words = [...account.prefix, '/bin/sh', '-c', attempt.join(' && '), 'sh', directory, program ?? ''];
  const { uid, gid } = account;
  const environment = { uid, gid, cwd: '/', env: serverEnvironment(), stdio: 'ignore' } as const;
  return spawnSync(words[0] as string, words.slice(1), environment).status === 0;
}

/** @throws EmbeddedPostgresError if the program does not run under any account */
function refuseBroken(program: string): void {
  const { status, error, stderr } = spawnSync(program, ['-V'], {
    env: serverEnvironment(),
    encoding: 'utf8',
  });
  if (status === 0 || (error as NodeJS.ErrnoException | undefined)?.code === 'EACCES') return;
  // It is there, so what is missing is the loader that it names.
  const missing = (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  const reason = missing ? 'it needs glibc, which this system lacks' : (error?.message ?? stderr.trim());
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot run on this machine (${reason}): set DATABASE_URL to a PostgreSQL server of ` +
      'your own.',
  );
}

function refusal(layout: Layout, binaries: Binaries, self: number, owner: Stats | undefined): Error {
  let reason =
    `PostgreSQL cannot run as root, no other account can reach this directory and ${binaries.postgres}, and ` +
    'this system allows no user namespace and no directory in /var/lib; run fieldtrace as an ordinary user, or ' +
    'move both to a directory that every user can enter';
  if (owner !== undefined && owner.uid !== 0) {
    reason =
      `PostgreSQL must run as user ${owner.uid}, who owns ${layout.cluster} and cannot reach it or ` +
      `${binaries.postgres}; move both to a directory that every user can enter`;
  } else if (self !== 0) {
    reason =
      `user ${self} cannot run ${binaries.postgres}, or has no line in /etc/passwd, which initdb needs; add ` +
      'one, or run fieldtrace as another user';
  }
  const otherwise = 'or set DATABASE_URL to a PostgreSQL server of your own';
  return new EmbeddedPostgresError(`DATA_DIR ${layout.dataDir} cannot be used: ${reason}, ${otherwise}.`);
}
