import { Failure } from './failure.ts';

/** Pause before the server is polled, in milliseconds; it doubles up to LONGEST_MS. */
const FIRST_MS = 1000;
const LONGEST_MS = 15_000;

let isLost = $state(false);
let rest = FIRST_MS;
let backAt = Number.NEGATIVE_INFINITY;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/**
 * The connection to the server. It can be lost while the browser has a network, such as when the server restarts or a
 * village has Wi-Fi but no line.
 */
export const connection = {
  get isLost() {
    return isLost;
  },
};

/**
 * fetch that notices a lost connection.
 *
 * @throws what fetch throws
 */
export async function reach(request: RequestInfo, options?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(request, options);
    if (isLost && response.ok) isBack();
    return response;
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) loseConnection();
    throw error;
  }
}

/**
 * Loads a part of the console. Browsers do not say why a script was not loaded, and do not load it again on the same
 * page.
 *
 * @throws Failure of status 0 without a connection; otherwise what `load` throws
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (error) {
    await reach('/health/live', { cache: 'no-store' }).catch(() => {
      throw new Failure('offline', 0);
    });
    throw error;
  }
}

/** Notes that the server is not reached, and asks for it until it is. */
export function loseConnection(): void {
  if (isLost) return;
  isLost = true;
  // Where single requests fail again and again, what is repeated with the connection is not repeated all the time.
  if (performance.now() - backAt > LONGEST_MS) rest = FIRST_MS;
  askLater();
}

/**
 * Calls back each time the connection is back.
 *
 * @returns a function that ends it
 */
export function onBack(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function isBack(): void {
  clearTimeout(timer);
  if (!isLost) return;
  isLost = false;
  backAt = performance.now();
  for (const listener of [...listeners]) listener();
}

function askLater(): void {
  clearTimeout(timer);
  timer = setTimeout(ask, rest);
  rest = Math.min(2 * rest, LONGEST_MS);
}

async function ask(): Promise<void> {
  clearTimeout(timer);
  const answer = await fetch('/health/live', { cache: 'no-store' }).catch(() => undefined);
  if (answer?.ok) isBack();
  else if (isLost) askLater();
}

addEventListener('offline', loseConnection);
addEventListener('online', () => void (isLost && ask()));
if (!navigator.onLine) loseConnection();
