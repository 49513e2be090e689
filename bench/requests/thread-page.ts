import type { RequestMaker } from '../load.ts';

/** Pages of a thread, from one position in it after the other. */
export default function threadPageRequests({
  thread,
  cursors,
  limit,
}: {
  thread: string;
  cursors: string[];
  limit: number;
}): RequestMaker {
  const requests = cursors.map(
    cursor =>
      `GET /chat/threads/${thread}/messages?limit=${limit}&cursor=${cursor} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  );
  // In steps that are prime to their number, so that neighbours are not asked for one after the other.
  return n => requests[(n * 7) % requests.length] as string;
}
