import { type Account, type Machine, startIn } from './machine.ts';

/** How a command went; the result is a few words for a table. */
export interface Attempt {
  ok: boolean;
  result: string;
}

const MINUTES = 60_000;

/** The output of a script, with the milliseconds from its start to the first appearance of a text. */
interface Run {
  output: string;
  code: number | null;
}

/** npm start, twice: the first installs and makes a database. Each time an observation is stored and read back. */
export async function tryStart(machine: Machine, account: Account): Promise<Attempt> {
  const first = await startOnce(machine, account);
  if (first.problem !== undefined) return { ok: false, result: first.problem };
  const warm = await startOnce(machine, account);
  if (warm.problem !== undefined) return { ok: false, result: `the second time: ${warm.problem}` };
  return {
    ok: true,
    result:
      `installed and served in ${first.served} s, of which ${first.afterInstall} s after installing; ` +
      `again in ${warm.served} s; ${first.node}`,
  };
}

async function startOnce(machine: Machine, account: Account) {
  const began = Date.now();
  let installed = began;
  let served: Promise<void> | undefined;
  let problem: string | undefined = 'it never served';
  let servedAt = began;
  // Ended as by Ctrl-C in a terminal: by SIGINT to all processes of the command.
  const script = 'setsid npm start & read end; kill -INT -$! ; wait $!';
  const { output, code } = await follow(machine, account, script, {}, 15 * MINUTES, (text, child) => {
    if (text.includes('fieldtrace: installed in') && installed === began) installed = Date.now();
    const url = /^fieldtrace packet service\s+(\S+)/m.exec(text)?.[1];
    if (url === undefined || served !== undefined) return;
    servedAt = Date.now();
    served = storeAndRead(url)
      .then(trouble => {
        problem = trouble;
      })
      .finally(() => child.stdin?.end('\n'));
  });
  await served;
  // npm itself ends with 130 after a Ctrl-C.
  if (![0, 130].includes(code ?? -1) || !output.includes('stopped PostgreSQL'))
    problem ??= `it ended with ${code}`;
  const seconds = (from: number) => ((servedAt - from) / 1000).toFixed(1);
  const node = /using (Node [\d.]+|this system's Node [\d.]+)/.exec(output)?.[1] ?? 'the newest bundled Node';
  return { problem, served: seconds(began), afterInstall: seconds(installed), node };
}

/** Undefined if all is well. The machine shares this one's network. */
async function storeAndRead(url: string): Promise<string | undefined> {
  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 40.7128, lon: -74.006 } };
  try {
    const answer = await fetch(`${url}/intake/scouting`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...observation, message: 'Leaf rust' }),
    });
    const { packet_uuid } = (await answer.json()) as { packet_uuid: string };
    const packet = (await (await fetch(`${url}/packets/${packet_uuid}`)).json()) as {
      Body: { message: string };
    };
    return packet.Body.message === 'Leaf rust' ? undefined : 'the packet is not what was sent';
  } catch (error) {
    return `no answer: ${error}`;
  }
}

/** npm test; as root as in CI, where a program that could not be installed is a failure. */
export async function tryTest(machine: Machine, account: Account): Promise<Attempt> {
  const environment: Record<string, string> = account.uid === 0 ? { CI: 'true' } : {};
  const began = Date.now();
  const { output, code } = await follow(machine, account, 'npm test', environment, 80 * MINUTES);
  const lines = output.replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g'), '').split('\n');
  const last = lines.findLastIndex(line => /^\s*Test Files/.test(line));
  const counts = lines
    .slice(last, last + 2)
    .map(line => line.trim().replaceAll(/\s+/g, ' ').replaceAll('|', 'and'))
    .join(', ');
  const notRun = lines.find(line => line.startsWith('Not run on this machine'));
  const minutes = ((Date.now() - began) / MINUTES).toFixed(1);
  return { ok: code === 0, result: `${counts}${notRun ? `; ${notRun}` : ''} ${minutes} min` };
}

/** Runs a script to its end, or to the limit, and shows what it prints. */
function follow(
  machine: Machine,
  account: Account,
  script: string,
  environment: Record<string, string>,
  limitMilliseconds: number,
  look: (text: string, child: ReturnType<typeof startIn>) => void = () => {},
): Promise<Run> {
  const child = startIn(machine, account, script, {
    PACKET_PORT: '0',
    TRACE_PORT: '0',
    CONSOLE_PORT: '0',
    ...environment,
  });
  let output = '';
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMilliseconds);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', chunk => {
      output += chunk;
      process.stdout.write(chunk);
      look(output, child);
    });
  }
  return new Promise(resolve => {
    child.once('close', code => {
      clearTimeout(limit);
      resolve({ output, code });
    });
  });
}
