import { get, type IncomingMessage } from 'node:http';

/** An event as a client of a feed gets it. */
export interface FeedEvent {
  event: string;
  /** position in the log; its id is the cursor there, `position.tag` */
  position: number;
  // biome-ignore lint/suspicious/noExplicitAny: what it tells depends on the event
  data: any;
}

export interface OpenFeed {
  /** all events so far */
  events: FeedEvent[];
  /** the last id that came, with an event or alone */
  lastId(): string | undefined;
  /** everything that came, as text */
  text(): string;
  response: IncomingMessage;
  /** resolves when the server has ended it, with whether it ended cleanly */
  ended: Promise<boolean>;
  close(): void;
}

/** Opens a feed as a browser's EventSource does, and resolves once it is live: when its position has come. */
export async function openFeed(
  url: string,
  userId: string,
  lastEventId?: string,
  headers: Record<string, string> = {},
): Promise<OpenFeed> {
  const resuming = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const request = get(`${url}/events?user_id=${encodeURIComponent(userId)}`, {
    headers: { ...headers, ...resuming },
    agent: false,
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
  });
  request.on('error', () => {});
  if (response.statusCode !== 200) throw new Error(`the feed was answered ${response.statusCode}`);
  response.setEncoding('utf8');

  const events: FeedEvent[] = [];
  const chunks: string[] = [];
  let unread = '';
  let lastId: string | undefined;
  const live = Promise.withResolvers<void>();
  response.on('data', chunk => {
    chunks.push(chunk);
    const blocks = (unread + chunk).split('\n\n');
    unread = blocks.pop() ?? '';
    for (const fields of blocks.map(readFields)) {
      if (fields.id !== undefined) lastId = fields.id;
      if (fields.data === undefined) {
        if (fields.id !== undefined) live.resolve();
        continue;
      }
      const position = Number(fields.id?.split('.')[0]);
      events.push({ event: fields.event ?? '', position, data: JSON.parse(fields.data) });
    }
  });
  const ended = new Promise<boolean>(resolve => {
    response.on('close', () => {
      live.resolve();
      resolve(response.complete);
    });
    response.on('error', () => {});
  });
  await live.promise;
  return {
    events,
    lastId: () => lastId,
    text: () => chunks.join(''),
    response,
    ended,
    close: () => request.destroy(),
  };
}

function readFields(block: string): Record<string, string> {
  const lines = block.split('\n').filter(line => !line.startsWith(':'));
  return Object.fromEntries(
    lines.map(line => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    }),
  );
}
