import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Client, openClient, Unknown } from './client.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { PACKET_STORIES } from './packet-stories.ts';
import { pick } from './random.ts';
import type { Stage } from './stage.ts';
import { type Story, tellerOf } from './story.ts';
import { TRACE_STORIES } from './trace-stories.ts';
import { openWorld } from './world.ts';

/** Endpoints whose method would let them write and that do not, or have nothing to write about. */
const READING = [
  'POST /api/user/api-keys/resolve',
  'POST /chat/query',
  'POST /graph/materialize',
  // Deliveries that were acknowledged before wait again; it stores nothing of its own.
  'POST /administration/dead-letters/replay',
  // A failed delivery; there is none here.
  'DELETE /administration/dead-letters/{notification_id}/{channel}',
  // A failed mail; there is none here.
  'POST /api/administration/failed-mails/replay',
  'DELETE /api/administration/failed-mails/{id}',
  // Only where no mails are sent.
  'POST /api/user/admin/confirmation_link',
];

const STORIES = { ...PACKET_STORIES, ...TRACE_STORIES };

/** Clients that write everything the services take. */
export interface Load {
  client: Client;
  ledger: Ledger;
  /** Has every story told once. */
  rehearse(): Promise<void>;
  /**
   * Has a number of writers tell stories, each one after the other.
   *
   * @param restMs milliseconds between two stories of one writer, on average
   */
  start(writers: number, restMs: number): void;
  /** Has the writers begin no story for a while, or go on. */
  rest(isResting: boolean): void;
  /** @throws Error that ended a writer: something in a story was not foreseen */
  check(): void;
  /** Begins no story more; resolves when those that were begun have ended. */
  stop(): Promise<void>;
}

export function openLoad(stage: Pick<Stage, 'targets' | 'database' | 'mailbox'>, random: () => number): Load {
  const context = {
    world: openWorld(stage.database),
    client: openClient(stage.targets, random),
    ledger: openLedger(),
    mailbox: stage.mailbox,
  };
  const prefix = `f${Math.floor(random() * 2 ** 32).toString(36)}`;
  const deck = Object.values(STORIES).flatMap(({ share, story }) =>
    Array.from({ length: share }, () => story),
  );
  let count = 0;
  let over = false;
  let resting = false;
  let failure: Error | undefined;
  const running: Promise<void>[] = [];

  async function runStory(story: Story): Promise<void> {
    const n = count++;
    await story(tellerOf({ mark: `${prefix}-${n}`, n }, context)).catch(error => {
      if (!(error instanceof Unknown)) throw error;
    });
  }

  async function write(restMs: number): Promise<void> {
    while (!over) {
      if (!resting) await runStory(pick(deck, random) as Story);
      await wait(resting ? 50 : restMs * random() * 2);
    }
  }

  return {
    client: context.client,
    ledger: context.ledger,
    async rehearse() {
      // Twice, with an odd number of stories in between: some end in another way when their number is even.
      const all = Object.values(STORIES).map(({ story }) => story);
      const filler: Story[] = all.length % 2 === 0 ? [async () => {}] : [];
      await Promise.all([...all, ...filler, ...all].map(runStory));
    },
    start(writers, restMs) {
      for (let n = 0; n < writers; n++) running.push(write(restMs));
      for (const writer of running) {
        writer.catch(error => {
          failure ??= error;
        });
      }
    },
    check() {
      if (failure) throw failure;
    },
    rest(isResting) {
      resting = isResting;
    },
    async stop() {
      over = true;
      context.client.end();
      await Promise.all(running);
    },
  };
}

/** The endpoints of both services that write, by their definitions. */
export function writingEndpoints(): string[] {
  return ['packet-service', 'trace-backend'].flatMap(service => {
    const file = new URL(`../../openapi/${service}.json`, import.meta.url);
    const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { paths: Record<string, object> };
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter(method => ['post', 'put', 'patch', 'delete'].includes(method))
        .map(method => `${method.toUpperCase()} ${path}`)
        .filter(endpoint => !READING.includes(endpoint)),
    );
  });
}
