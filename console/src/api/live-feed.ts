/** Rest before the live feed is opened again after it was refused, in milliseconds. */
const AGAIN_MS = 30_000;
const KINDS = ['chat.message', 'share.created', 'invitation.sent'] as const;

/** The data of an event of the live feed. */
export interface FeedEvent {
  kind: (typeof KINDS)[number];
  thread_id?: string;
  /** absent where nobody is known */
  from_user?: string;
}

/** Is called for each event, and without one whenever the feed opens: something may have come before. */
type Listener = (event: FeedEvent | undefined) => void;

const listeners = new Set<Listener>();
let source: EventSource | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Follows the live feed of the user who is logged in. A tab has one feed for all of its listeners, and only while it can
 * be seen: a browser opens six connections to a server that speaks HTTP/1.1.
 *
 * @returns what ends it
 */
export function followFeed(listener: Listener): () => void {
  listeners.add(listener);
  if (source?.readyState === EventSource.OPEN) listener(undefined);
  adjust();
  return () => {
    listeners.delete(listener);
    adjust();
  };
}

document.addEventListener('visibilitychange', adjust);

function adjust(): void {
  const isWanted = listeners.size > 0 && document.visibilityState === 'visible';
  if (isWanted && !source) open();
  if (!isWanted) close();
}

function open(): void {
  source = new EventSource('/packet/events');
  source.addEventListener('open', () => notify(undefined));
  for (const kind of KINDS) {
    source.addEventListener(kind, ({ data }) => notify({ ...JSON.parse(data), kind }));
  }
  source.addEventListener('error', () => {
    // The browser reconnects automatically, unless the service answered with an error.
    if (source?.readyState !== EventSource.CLOSED) return;
    timer = setTimeout(() => {
      close();
      adjust();
    }, AGAIN_MS);
  });
}

function close(): void {
  clearTimeout(timer);
  source?.close();
  source = undefined;
}

function notify(event: FeedEvent | undefined): void {
  for (const listener of [...listeners]) listener(event);
}
