import { onBack } from './connection.svelte.ts';

/** Pause after a request that failed, in milliseconds, unless the connection is back before. */
const TROUBLE_MS = 15_000;
/** Pause after news, in milliseconds: listeners are called at most once in this time. */
const REST_MS = 1000;
/** Seconds that one request waits for news. */
const WAIT = 55;

/**
 * Calls back when something new is in the log of the packet service. The live feed says where the log ends now; from
 * there, requests wait for the next entries.
 *
 * @param ask makes requests of the session
 * @returns a function that ends it
 */
export function followNews(
  userId: string,
  ask: (request: Request) => Promise<Response>,
  onNews: () => void,
): () => void {
  const ended = new AbortController();
  void follow(userId, { ask, onNews, signal: ended.signal });
  return () => ended.abort();
}

interface Following {
  ask: (request: Request) => Promise<Response>;
  onNews: () => void;
  signal: AbortSignal;
}

async function follow(userId: string, following: Following): Promise<void> {
  const { ask, onNews, signal } = following;
  let since: string | undefined;
  let isLate = false;
  while (!signal.aborted) {
    try {
      if (since === undefined) {
        since = await endOfLog(userId, following);
        // The feed does not report what came before its end was read.
        if (isLate) onNews();
      }
      isLate = false;
      const query = new URLSearchParams({ since, wait: String(WAIT), limit: '1000' });
      const response = await ask(new Request(`/packet/sync/packets?${query}`, { signal }));
      if (!response.ok) {
        // 409: the log is another one, as after a restored backup.
        if (response.status === 409) since = undefined;
        throw new Error(`HTTP ${response.status}`);
      }
      const page = (await response.json()) as { since: string; count: number };
      since = page.since;
      if (page.count > 0) {
        onNews();
        await pause(REST_MS, signal);
      }
    } catch {
      isLate = true;
      if (!signal.aborted) await pause(TROUBLE_MS, signal);
    }
  }
}

/**
 * The cursor at the end of the log: the live feed begins with it. It is an id without data, which EventSource keeps to
 * itself, so the stream is read here.
 */
async function endOfLog(userId: string, { ask, signal }: Following): Promise<string> {
  const query = new URLSearchParams({ user_id: userId });
  const response = await ask(new Request(`/packet/events?${query}`, { signal }));
  if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let text = ''; ; ) {
      const { done, value } = await reader.read();
      if (done) throw new Error('the live feed ended before it began');
      text += value;
      const id = /^id: (.+)\n/m.exec(text)?.[1];
      if (id !== undefined) return id;
    }
  } finally {
    await reader.cancel();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer);
      forget();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const forget = onBack(end);
    signal.addEventListener('abort', end);
  });
}
