import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { findChromium } from './chromium.ts';

/**
 * Chromium that is steered by its own protocol, through the page alone. Playwright also attaches itself to service
 * workers, and a page that it opens while one is replaced by another never loads.
 */
export interface PlainBrowser {
  /** Opens an address, and waits until it has loaded. */
  goto(url: string): Promise<void>;
  /** Evaluates an expression in the page; waits for it if it is a promise. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

interface Answer {
  id?: number;
  method?: string;
  result?: { result?: { value?: unknown }; exceptionDetails?: { exception?: { description?: string } } };
}

/** @throws Error that says what to install where there is no browser */
export async function openPlainBrowser(): Promise<PlainBrowser> {
  const { executablePath, env } = await findChromium();
  const profile = await mkdtemp(path.join(tmpdir(), 'fieldtrace-browser-'));
  const words = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
  ];
  const child = spawn(
    executablePath,
    [...words, '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(child, 'close');
  const socket = new WebSocket(await pageAddress(child.stderr));
  await once(socket, 'open');

  let count = 0;
  const waiting = new Map<number, (answer: Answer) => void>();
  let onLoad = () => {};
  socket.addEventListener('message', ({ data }) => {
    const answer: Answer = JSON.parse(data);
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    else if (answer.method === 'Page.loadEventFired') onLoad();
  });
  async function call(method: string, params: object = {}): Promise<NonNullable<Answer['result']>> {
    const id = ++count;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    const { result } = await promise;
    waiting.delete(id);
    if (result === undefined || result.exceptionDetails)
      throw new Error(`${method}: ${result?.exceptionDetails?.exception?.description ?? 'refused'}`);
    return result;
  }
  await call('Page.enable');

  return {
    async goto(url) {
      const { promise, resolve } = Promise.withResolvers<void>();
      onLoad = resolve;
      await call('Page.navigate', { url });
      await promise;
    },
    async evaluate(expression) {
      const { result } = await call('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      return result?.value;
    },
    async close() {
      socket.close();
      child.kill();
      await ended;
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** The address of the first page of a browser that starts, from what it prints. */
async function pageAddress(output: Readable): Promise<string> {
  const host = await new Promise<string>((resolve, reject) => {
    let text = '';
    output.on('data', chunk => {
      text += chunk;
      const match = /DevTools listening on ws:\/\/([^/\s]+)\//.exec(text)?.[1];
      if (match !== undefined) resolve(match);
    });
    output.on('end', () => reject(new Error(`the browser did not start: ${text}`)));
  });
  const targets = (await (await fetch(`http://${host}/json`)).json()) as Target[];
  return (targets.find(({ type }) => type === 'page') as Target).webSocketDebuggerUrl;
}

interface Target {
  type: string;
  webSocketDebuggerUrl: string;
}
