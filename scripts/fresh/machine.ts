import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const RELEASE = 'bookworm';
const NODE = '20.20.2';
const NPM = '10.8.2';

/** A directory with a whole system in it, and what processes in it need of this machine's environment. */
export interface Machine {
  root: string;
  environment: Record<string, string>;
}

export interface Account {
  name: string;
  home: string;
  uid: number;
}

/**
 * Makes the machine below a folder. How the archives of Debian and npm are reached (mirrors, proxies, a certificate
 * authority) is taken over from the machine that this runs on.
 */
export function makeMachine(folder: string): Machine {
  const root = path.join(folder, 'root');
  const targets = debianTargets();
  const mirror = targets.find(({ suite }) => suite === RELEASE)?.uri;
  console.log(`making a minimal Debian (${RELEASE})`);
  run('debootstrap', ['--variant=minbase', RELEASE, root, ...(mirror ? [mirror] : [])]);
  if (targets.length > 0) {
    const lines = targets.map(({ uri, suite, component }) => `deb ${uri} ${suite} ${component}\n`);
    writeFileSync(path.join(root, 'etc/apt/sources.list'), lines.join(''));
  }
  const settings = run('apt-config', ['dump']).match(/^Acquire::https?::.*$/gm) ?? [];
  writeFileSync(path.join(root, 'etc/apt/apt.conf.d/90-host'), `${settings.join('\n')}\n`);
  for (const file of ['etc/hosts', 'etc/resolv.conf']) copyFileSync(`/${file}`, path.join(root, file));
  console.log(`installing Node ${NODE} and npm ${NPM}`);
  installNode(folder, root);
  const environment = takeOverEnvironment(root);
  run('chroot', [root, 'useradd', '--create-home', '--uid', '1000', 'ana']);
  return { root, environment };
}

/** Copies the work tree, without what git ignores, to ~/fieldtrace. */
export function copyProject({ root }: Machine, { home, uid }: Account, project: string): void {
  const target = path.join(root, home, 'fieldtrace');
  mkdirSync(target);
  const files = run('git', ['-C', project, 'ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const file of new Set(files.split('\0'))) {
    if (file === '' || !existsSync(path.join(project, file))) continue;
    cpSync(path.join(project, file), path.join(target, file));
  }
  run('chown', ['-R', `${uid}:${uid}`, target]);
}

const running = new Set<ChildProcess>();

/** Ends every script that still runs, with all processes that it started. */
export function endScripts(): void {
  for (const child of running) child.kill('SIGKILL');
}

/**
 * Starts a shell script as somebody in ~/fieldtrace, in namespaces of its own for processes and mounts. The first
 * process of the namespace stays root's: it is ended together with `unshare`, which the kernel does not do for a process
 * that has changed its user, and with it ends whatever the script left running or mounted.
 */
export function startIn(
  { root, environment }: Machine,
  { name, home, uid }: Account,
  script: string,
  more: Record<string, string> = {},
): ChildProcess {
  const enter = `
    mount -t proc proc "$1/proc" && mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" &&
    chroot --userspec="$2" "$1" /bin/sh -c 'cd ~/fieldtrace && eval "$1"' sh "$3"
    code=$?; exit $code`;
  const own = {
    HOME: home,
    USER: name,
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  };
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', root, `${uid}:${uid}`, script],
    { env: { ...environment, ...own, ...more }, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Where this machine gets this release of Debian from. */
function debianTargets(): { uri: string; suite: string; component: string }[] {
  const format = '$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)';
  const lines = new Set(
    run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']).split('\n'),
  );
  return [...lines]
    .map(line => line.split('|'))
    .filter(([origin, , suite = '']) => origin === 'Debian' && suite.startsWith(RELEASE))
    .map(([, uri = '', suite = '', component = '']) => ({ uri, suite, component }));
}

/** Both are unpacked from the npm registry, as an administrator would from an archive. */
function installNode(folder: string, root: string): void {
  for (const [name, version, target] of [
    [`node-linux-${process.arch}`, NODE, 'opt/node'],
    ['npm', NPM, 'usr/local/lib/node_modules/npm'],
  ] as const) {
    const archive = run('npm', ['pack', '--silent', `${name}@${version}`], folder).trim();
    mkdirSync(path.join(root, target), { recursive: true });
    run('tar', ['-xzf', archive, '--strip-components=1', '-C', path.join(root, target)], folder);
  }
  const bin = path.join(root, 'usr/local/bin');
  copyFileSync(path.join(root, 'opt/node/bin/node'), path.join(bin, 'node'));
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, path.join(bin, name));
  }
}

/** Proxies, settings of npm and a certificate authority, if this machine has them. */
function takeOverEnvironment(root: string): Record<string, string> {
  const names = /^((https?|no|all)_proxy|npm_config_(registry|(https?-?_?)?proxy|noproxy|strict_ssl))$/i;
  const taken = Object.entries(process.env).filter(([name, value]) => names.test(name) && value);
  const environment: Record<string, string> = Object.fromEntries(taken) as Record<string, string>;
  environment.npm_config_registry = npmSetting('registry') ?? '';
  const authority = process.env.NODE_EXTRA_CA_CERTS ?? npmSetting('cafile');
  if (authority !== undefined && existsSync(authority)) {
    const copy = '/usr/local/etc/certificate-authority.pem';
    copyFileSync(authority, path.join(root, copy));
    environment.NODE_EXTRA_CA_CERTS = copy;
    environment.npm_config_cafile = copy;
  }
  return environment;
}

function npmSetting(name: string): string | undefined {
  const value = run('npm', ['config', 'get', name]).trim();
  return ['', 'null', 'undefined'].includes(value) ? undefined : value;
}

function run(command: string, words: string[], cwd?: string): string {
  return execFileSync(command, words, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
