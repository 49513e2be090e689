import { isScreen } from './is-screen.ts';

/** The files of the build by their paths, which vite.config.js puts before this file. */
declare const BUILD: {
  version: string;
  /** the script that index.html loads */
  entry: string;
  /** files that are stored at once */
  first: string[];
  /** large files of single screens, which are stored when they are used */
  later: string[];
};

// TypeScript's types of service workers cannot be used together with those of pages.
interface Lifecycle extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends Lifecycle {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface PageMessageEvent extends Lifecycle {
  data: unknown;
}
interface Worker {
  addEventListener(type: 'install' | 'activate', listener: (event: Lifecycle) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
  addEventListener(type: 'message', listener: (event: PageMessageEvent) => void): void;
  skipWaiting(): Promise<void>;
  clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<unknown[]>;
  };
}
const worker = self as unknown as Worker;

const PREFIX = 'console-';
const CACHE = PREFIX + BUILD.version;
/** The one page of the console. */
const PAGE = '/';
/** How long a page may take on a bad connection before the stored one is shown, in milliseconds. */
const PATIENCE_MS = 5000;
/** Answers of a proxy that does not reach the server. */
const UNREACHABLE = new Set([502, 504]);

worker.addEventListener('install', event => event.waitUntil(store()));
worker.addEventListener('activate', event =>
  event.waitUntil(Promise.all([removeOthers(), worker.clients.claim()])),
);
worker.addEventListener('message', event => event.waitUntil(takeOver(event.data)));
worker.addEventListener('fetch', event => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  // Everything else, above all the answers of the services, is not touched.
  if (BUILD.first.includes(pathname) || BUILD.later.includes(pathname))
    event.respondWith(
      request.headers.has('range') ? openPart(request, pathname) : openFile(request, pathname),
    );
  else if (request.mode === 'navigate' && isScreen(pathname)) event.respondWith(openPage(request));
});

/** Stores the files of this build; fails if the server has another one by then. */
async function store(): Promise<void> {
  const cache = await caches.open(CACHE);
  // The browser may have older ones of the files without a hash in their names.
  const fresh = [PAGE, ...BUILD.first].map(path =>
    path.startsWith('/assets/') ? path : new Request(path, { cache: 'reload' }),
  );
  await cache.addAll(fresh);
  const page = await (await cache.match(PAGE))?.text();
  if (page?.includes(BUILD.entry)) return;
  await caches.delete(CACHE);
  throw new Error('the server has another build');
}

async function removeOthers(): Promise<void> {
  const names = (await caches.keys()).filter(name => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(names.map(name => caches.delete(name)));
}

/**
 * Replaces the worker of an older build, if no page of it is open: the only page says that it is one of this build.
 *
 * @param entry the script of that page
 */
async function takeOver(entry: unknown): Promise<void> {
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  if (entry === BUILD.entry && pages.length === 1) await worker.skipWaiting();
}

/** The page as the server has it, which names the files of the newest build; without a connection the stored one. */
async function openPage(request: Request): Promise<Response> {
  const stored = await caches.match(PAGE, { cacheName: CACHE, ignoreVary: true });
  if (!stored) return fetch(request);
  const late = new Promise<Response>(resolve => setTimeout(resolve, PATIENCE_MS, stored));
  const answer = fetch(request).then(
    found => (UNREACHABLE.has(found.status) ? stored : found),
    () => stored,
  );
  return Promise.race([answer, late]);
}

/** A file of this build, which never changes. */
async function openFile(request: Request, path: string): Promise<Response> {
  const cache = await caches.open(CACHE);
  const stored = await cache.match(path, { ignoreVary: true });
  if (stored) return stored;
  const answer = await fetch(request);
  // Without space it is loaded again the next time.
  if (answer.ok) cache.put(path, answer.clone()).catch(() => {});
  return answer;
}

/** Parts of files, which are stored as answers of their own: of the base map, only what was seen. */
async function openPart(request: Request, path: string): Promise<Response> {
  const name = `${path}?${request.headers.get('range')}`;
  const cache = await caches.open(CACHE);
  const stored = await cache.match(name, { ignoreVary: true });
  const partial = { status: 206, statusText: 'Partial Content' };
  if (stored) return new Response(stored.body, { headers: stored.headers, ...partial });
  const answer = await fetch(request);
  if (answer.status !== 206) return answer;
  // Browsers do not store partial answers as such.
  const { headers } = answer;
  cache.put(name, new Response(await answer.clone().blob(), { headers })).catch(() => {});
  return answer;
}
