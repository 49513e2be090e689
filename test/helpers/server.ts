import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './folder.ts';
import { freePort } from './free-port.ts';
import { installPackage } from './package.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const MARK = '--- end of block ---';

/** The paths of a server that runbooks name. Here they are in a folder of the test. */
const PATHS =
  /(?<![\w.~-])\/(?=(?:opt\/fieldtrace|etc\/fieldtrace\.env|etc\/systemd\/system|var\/(?:lib|cache)\/fieldtrace|usr\/local\/bin)\b)/g;
const PLACES_OF_SED =
  's#\\(^\\|[^A-Za-z0-9_.~-]\\)/\\(opt/fieldtrace\\|etc/fieldtrace\\.env\\|var/lib/fieldtrace\\|var/cache/fieldtrace\\)#\\1$MACHINE/\\2#g';

/** Programs of a server that a test does not have, or must not run: what they do of what the runbooks need. */
const PROGRAMS: Record<string, string> = {
  useradd: 'exit 0',
  // -u USER -- COMMAND
  runuser: 'shift 3; exec "$@"',
  journalctl: 'cat "$MACHINE/journal"',
  // Without owners that do not exist; as root, PostgreSQL runs as another user, who must reach the folders.
  install: `for word do shift; case $word in fieldtrace|-o|-g) ;; 750) set -- "$@" 755 ;; *) set -- "$@" "$word" ;; esac; done
/usr/bin/install "$@" && eval last=\\\${$#} && if [ -f "$last" ]; then sed -i "${PLACES_OF_SED}" "$last"; fi`,
  systemctl: `unit=$MACHINE/etc/systemd/system/fieldtrace.service
of() { sed -n "s/^$1=//p" "$unit"; }
alive() {
  [ -e "$MACHINE/pid" ] && pid=$(cat "$MACHINE/pid") && kill -0 "$pid" 2> /dev/null &&
    ! grep -qs '^State:.Z' "/proc/$pid/status"
}
stop() { if alive; then kill "$(cat "$MACHINE/pid")"; while alive; do sleep 0.1; done; fi; }
start() {
  mkdir -p "$MACHINE/var/lib/$(of StateDirectory)" "$MACHINE/var/cache/$(of CacheDirectory)"
  ( set -a; eval "$(of Environment)"; . "$(of EnvironmentFile)"; set +a
    cd "$(of WorkingDirectory)" && exec $(of ExecStart) < /dev/null >> "$MACHINE/journal" 2>&1 ) &
  echo $! > "$MACHINE/pid"
}
case "$*" in
  daemon-reload) ;;
  'start fieldtrace' | 'enable --now fieldtrace') start ;;
  'stop fieldtrace') stop ;;
  'restart fieldtrace') stop; start ;;
  'status fieldtrace --no-pager') if alive; then echo 'active (running)'; else echo 'inactive (dead)'; exit 3; fi ;;
  *) echo "systemctl $*: not in this test" >&2; exit 1 ;;
esac`,
};

/** A server as docs/runbooks.md knows it, in a folder. */
export interface Server {
  folder: string;
  url: string;
  traceUrl: string;
  /** The path here of a path that the runbooks name. */
  here(name: string): string;
  /**
   * Runs a runbook as pasted into a shell of root, in an empty folder.
   *
   * @param title the heading in docs/runbooks.md
   * @param options.blocks which of its shell blocks, from 0; all of them if not given
   * @param options.input what is typed
   * @param options.own names and times that are the operator's own, and what they are here
   * @returns what each block printed
   */
  follow(
    title: string,
    options?: { blocks?: number[]; input?: string; own?: Record<string, string> },
  ): Promise<string[]>;
  /** Runs a command of the operator's own. */
  run(script: string): Promise<string>;
  /** Adds settings to /etc/fieldtrace.env, as an operator with an editor. */
  set(settings: Record<string, string>): Promise<void>;
  journal(): Promise<string>;
  remove(): Promise<void>;
}

/** The shell blocks of docs/runbooks.md under a heading. */
export async function runbook(title: string): Promise<string[]> {
  const text = await readFile(path.join(ROOT, 'docs/runbooks.md'), 'utf8');
  const [, section] = text.split(`\n## ${title}\n`);
  if (section === undefined) throw new Error(`docs/runbooks.md has no ${title}`);
  const [own = ''] = section.split(/^## /m);
  return [...own.matchAll(/```sh\n([\s\S]*?)```/g)].map(match => match[1] as string);
}

/** A folder with the paths and the programs of a server. */
async function emptyMachine() {
  const made = await temporaryFolder();
  await chmod(made.folder, 0o755);
  for (const name of [
    'programs',
    'usr/local/bin',
    'etc/systemd/system',
    'opt',
    'var/lib',
    'var/cache',
    'home',
  ])
    await mkdir(path.join(made.folder, name), { recursive: true });
  for (const [name, script] of Object.entries(PROGRAMS))
    await writeFile(path.join(made.folder, 'programs', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return made;
}

/** An empty server: nothing is installed. */
export async function emptyServer(): Promise<Server> {
  const { folder, remove } = await emptyMachine();
  const [packet, trace] = [await freePort(), await freePort()];
  const here = (name: string) => name.replaceAll(PATHS, `${folder}/`);
  const outside = Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_/.test(name));
  const env = {
    ...Object.fromEntries(outside),
    // What npm has in its cache is not asked for again.
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_fetch_retries: '1',
    PATH: `${folder}/programs:${folder}/usr/local/bin:${process.env.PATH}:/usr/sbin:/sbin`,
    MACHINE: folder,
  };
  const shell = (script: string, input = '') => {
    const cwd = path.join(folder, 'home');
    const run = promisify(execFile)('sh', ['-e', '-c', script], { cwd, env, timeout: 280_000 });
    // A command that reads nothing may have ended.
    run.child.stdin?.on('error', () => {});
    run.child.stdin?.end(input);
    return run;
  };
  return {
    folder,
    url: `http://127.0.0.1:${packet}`,
    traceUrl: `http://127.0.0.1:${trace}`,
    here,
    async follow(title, { blocks, input, own = {} } = {}) {
      const all = await runbook(title);
      const chosen = (blocks ?? all.keys().toArray()).map(n => all[n] as string);
      let script = chosen.map(block => `${block}printf '\\n${MARK}\\n'\n`).join('');
      for (const [written, instead] of Object.entries(own)) {
        if (!script.includes(written)) throw new Error(`${title} does not say ${written}`);
        script = script.replaceAll(written, instead);
      }
      script = here(script)
        .replaceAll(':8000', `:${packet}`)
        .replaceAll(':8080', `:${trace}`)
        // It ends with 1 where it finds an error, which ends this shell, unlike that of an operator.
        .replaceAll(/^fieldtrace doctor$/gm, '$& || :');
      try {
        const { stdout } = await shell(script, input);
        return stdout
          .split(`${MARK}\n`)
          .slice(0, -1)
          .map(output => output.trim());
      } catch (error) {
        const { message, stdout } = error as { message: string; stdout?: string };
        const journal = await readFile(path.join(folder, 'journal'), 'utf8').catch(() => '');
        throw new Error(`${message}\n${stdout}\n${journal.slice(-3000)}`);
      }
    },
    run: async script => (await shell(here(script))).stdout,
    async set(settings) {
      const file = here('/etc/fieldtrace.env');
      const kept = await readFile(file, 'utf8').catch(() => '');
      const lines = Object.entries({ ...settings, PACKET_PORT: packet, TRACE_PORT: trace, CONSOLE_PORT: 0 });
      await writeFile(file, `${kept}\n${lines.map(([name, value]) => `${name}='${value}'\n`).join('')}`);
    },
    journal: () => readFile(path.join(folder, 'journal'), 'utf8'),
    async remove() {
      await shell('systemctl stop fieldtrace');
      await remove();
    },
  };
}

/**
 * Puts the packages of production that this work tree has into a server's folder, as hard links, so that npm neither
 * fetches nor unpacks them again. npm removes what the package does not need, and fetches what is missing.
 */
export async function lendPackages(server: Server): Promise<void> {
  const lockfile = JSON.parse(await readFile(path.join(ROOT, 'package-lock.json'), 'utf8'));
  const names = Object.entries<{ dev?: boolean }>(lockfile.packages)
    .filter(([name, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(name) && !dev)
    .map(([name]) => name);
  const there = ['node_modules/.bin', ...names].filter(name => existsSync(path.join(ROOT, name)));
  const target = server.here('/opt/fieldtrace');
  await mkdir(target, { recursive: true });
  const copy = (how: string) =>
    promisify(execFile)('cp', [how, '--parents', ...there, target], { cwd: ROOT });
  // Links cannot lead to another file system.
  await copy('-al').catch(() => copy('-a'));
}

/** A server with this work tree installed, as by the runbook, but not started. */
export async function installedServer(settings: Record<string, string>): Promise<Server> {
  const server = await emptyServer();
  await installPackage(server.here('/opt/fieldtrace/node_modules'));
  await server.follow('Install', { blocks: [1] });
  // What processes of other tests compiled is compiled.
  const { NODE_COMPILE_CACHE = '' } = process.env;
  await server.set({ NODE_COMPILE_CACHE, ...settings });
  return server;
}
