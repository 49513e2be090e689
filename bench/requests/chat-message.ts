import { languageNames, messageWriter } from '../chat-texts.ts';
import type { RequestMaker } from '../load.ts';
import { post } from './scouting.ts';

/** Texts that are written beforehand, so that the load does not spend its time on them. */
const TEXTS = 4000;

/** Chat messages in the given threads, in all languages, each naming a GeoID and, when asked, its sender. */
export default function chatMessageRequests({
  threads,
  sender,
}: {
  threads: string[];
  sender?: string;
}): RequestMaker {
  const writers = languageNames.map((name, index) => messageWriter(name, index));
  const texts = Array.from({ length: TEXTS }, (_, n) => (writers[n % writers.length] as () => string)());
  return n =>
    post(
      '/intake/chat-message',
      JSON.stringify({
        text: texts[n % TEXTS],
        thread_id: threads[(n * 7919) % threads.length],
        geoids: ['60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33'],
        ...(sender !== undefined && { from_user: sender }),
      }),
    );
}
