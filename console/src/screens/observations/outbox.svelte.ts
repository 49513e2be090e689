import { onBack } from '../../api/connection.svelte.ts';
import { answered, packet } from '../../api/services.ts';
import { session } from '../../api/session.svelte.ts';
import { t } from '../../messages/messages.svelte.ts';
import { toast } from '../../parts/toasts.svelte.ts';
import { type Sending, sendWaiting } from './send.ts';
import type { Waiting } from './waiting.ts';
import { keepWaiting, listWaiting, removeWaiting } from './waiting-store.ts';

/** Rest before the next attempt while something waits, in milliseconds. */
const AGAIN_MS = 30_000;

/** Maximum sent observations that are shown. */
const SHOWN = 5;

/** An observation that was sent. */
interface Sent extends Pick<Waiting, 'user' | 'at' | 'body'> {
  packet: string;
}

let list = $state.raw<Waiting[]>([]);
let isSending = $state(false);
let sent = $state.raw<Sent[]>([]);
let failure = $state.raw<unknown>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

/** A message to the other tabs: a sent observation, or the packets of a whole run. */
type TabMessage = { sent: Sent } | { user: string; packets: string[] };
const tabs = new BroadcastChannel('outbox');
const notifyTabs = (message: TabMessage) => tabs.postMessage(message);
tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
  if ('packets' in data) return announce(data.user, data.packets);
  show(data.sent);
  void refresh().catch(() => {});
});

/** Whether a screen lists what was sent, so that no notice has to say it. */
let isListed = false;
/** Packets that were announced here. */
const announced = new Set<string>();

/** Observations that wait in this browser. */
export const outbox = {
  get waiting() {
    return list;
  },
  get isSending() {
    return isSending;
  },
  /** what was sent since the page was opened, by this tab or another one, newest first */
  get sent() {
    return sent.filter(({ user }) => user === userId());
  },
  /** why nothing can be kept or sent, other than a lost connection */
  get failure() {
    return failure;
  },
};

const sending: Sending = {
  async postObservation(body, key) {
    const call = packet.POST('/intake/scouting', {
      body: body as never,
      headers: { 'idempotency-key': key },
    });
    return (await answered(call)).packet_uuid;
  },
  async postPhoto({ id, name, content }) {
    const form = new FormData();
    form.append('file', content, name);
    // The id goes into the address, before the file.
    const call = packet.POST('/attachments', {
      params: { query: { id } },
      body: form as never,
      bodySerializer: body => body as unknown as FormData,
    });
    await answered(call);
  },
  keep: keepWaiting,
  remove: removeWaiting,
};

const userId = () => (session.user ? String(session.user.id) : undefined);

async function refresh(): Promise<void> {
  const user = userId();
  list = user === undefined ? [] : await listWaiting(user);
}

/** Notes that a screen lists what is sent. @returns what ends it */
export function listSent(): () => void {
  isListed = true;
  return () => {
    isListed = false;
  };
}

/** Says once how many observations were sent, even if two tabs have sent them. */
function announce(user: string, packets: readonly string[]): void {
  const fresh = packets.filter(id => !announced.has(id));
  for (const id of fresh) announced.add(id);
  if (fresh.length === 0 || isListed || user !== userId()) return;
  toast(t('observations.sent.count', { count: fresh.length }));
}

/** Puts an observation into the outbox, from where it is sent as soon as there is a connection. */
export async function put(waiting: Omit<Waiting, 'user'>): Promise<void> {
  await keepWaiting({ ...waiting, user: userId() ?? '' });
  await refresh();
  void sendAll();
}

/** Takes an observation that was not sent out of the outbox. */
export async function discard(key: string): Promise<void> {
  await removeWaiting(key);
  await refresh();
}

/** Lets an observation that was refused be sent once more. */
export async function retry(key: string): Promise<void> {
  const found = list.find(waiting => waiting.key === key);
  if (!found) return;
  const { refused: _, ...again } = found;
  await keepWaiting(again);
  await refresh();
  void sendAll();
}

/** Sends what waits, oldest first, until something has to wait for a connection. */
export async function sendAll(): Promise<void> {
  if (isSending || userId() === undefined) return;
  isSending = true;
  clearTimeout(timer);
  try {
    await alone(sendEach);
    failure = undefined;
  } catch (error) {
    failure = error;
  } finally {
    isSending = false;
    if (list.some(({ refused }) => refused === undefined)) timer = setTimeout(sendAll, AGAIN_MS);
  }
}

async function sendEach(): Promise<void> {
  await refresh();
  const user = userId() ?? '';
  const packets: string[] = [];
  try {
    for (const waiting of list.filter(({ refused }) => refused === undefined)) {
      const { outcome, packet } = await send(waiting);
      await refresh();
      if (outcome === 'sent' && packet !== undefined) {
        const sent = { user: waiting.user, at: waiting.at, body: waiting.body, packet };
        packets.push(packet);
        show(sent);
        notifyTabs({ sent });
      }
      if (outcome === 'later') return;
    }
  } finally {
    if (packets.length > 0) {
      announce(user, packets);
      notifyTabs({ user, packets });
    }
  }
}

async function send(waiting: Waiting) {
  let { packet } = waiting;
  const outcome = await sendWaiting(waiting, {
    ...sending,
    async postObservation(body, key) {
      packet = await sending.postObservation(body, key);
      return packet;
    },
  });
  return { outcome, packet };
}

/** Shows it once, even if two tabs have sent it. */
function show(added: Sent): void {
  sent = [added, ...sent.filter(({ packet }) => packet !== added.packet)].slice(0, SHOWN);
}

/** Lets one tab send at a time if the browser has locks (https, localhost); otherwise the keys prevent duplicates. */
async function alone(work: () => Promise<void>): Promise<void> {
  if (!navigator.locks) return work();
  await navigator.locks.request('observations', work);
}

onBack(() => void sendAll());
