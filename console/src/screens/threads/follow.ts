/** Rest before the live feed is opened again after it was refused, in milliseconds. */
const AGAIN_MS = 30_000;

/**
 * Calls back when a message of a thread may have come: for each event of the live feed, and whenever the feed is open
 * again after it was interrupted.
 *
 * @returns what ends it
 */
export function followThread(threadId: string, onmessage: () => void): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function open() {
    source = new EventSource('/packet/events');
    source.addEventListener('open', onmessage);
    source.addEventListener('chat.message', event => {
      const { thread_id } = JSON.parse((event as MessageEvent<string>).data) as { thread_id?: string };
      if (thread_id === threadId) onmessage();
    });
    source.addEventListener('error', () => {
      // It reconnects by itself, unless the service answered with an error.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
    });
  }

  open();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
