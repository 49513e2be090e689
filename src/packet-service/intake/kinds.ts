import { bodyCheck } from '../../platform/http/validation.ts';
import { truncate } from '../collaboration/chat/messages/message.ts';
import type { AddWords } from '../collaboration/chat/search/dictionary.ts';
import type { ThreadCheck } from '../collaboration/chat/threads/thread-check.ts';
import { type Caller, claimedUser } from '../core/access/caller.ts';
import type { GeoidResolver } from '../core/geoids/resolver.ts';
import { chatMessageMaker } from './chat-message.ts';
import type { MakePacket } from './packet-write.ts';
import { type IntakeBody, type IntakeName, intakeSchemas } from './schemas.ts';
import { observationMaker } from './scouting.ts';

/** The sender of an item, with the request's language. */
export interface Sender extends Caller {
  contentLanguage: string | undefined;
}

/** A kind of intake, and how its packets are made. */
export interface ItemKind {
  /** whether its packets get their ids and times in the order of arrival */
  isOrdered: boolean;
  /** @throws Problem invalid, naming the field */
  check: (body: unknown) => void;
  /** The fields of a checked body that are stored truncated. */
  truncated: (body: unknown) => readonly string[];
  /** Does the asynchronous work for the packet of a checked body. */
  packetMaker: (sender: Sender, body: unknown) => Promise<MakePacket>;
}

/** An entry for each of intakeSchemas; a missing one does not compile. */
export type ItemKinds = Readonly<Record<IntakeName, ItemKind>>;

/** Dependencies of making packets; the caches of threads and words are shared with chat. */
export interface ItemContext {
  resolver: GeoidResolver;
  checkThread: ThreadCheck;
  addWords: AddWords;
}

export function itemKinds({ resolver, checkThread, addWords }: ItemContext): ItemKinds {
  return {
    scouting: kind('scouting', {
      isOrdered: false,
      packetMaker: ({ user: author, contentLanguage }, body) =>
        observationMaker(resolver, body, { contentLanguage, author }),
    }),
    'chat-message': kind('chat-message', {
      isOrdered: true,
      truncated: ({ text }) => (truncate(text) === text ? NONE : ['text']),
      packetMaker: async (caller, message) => {
        const { user: author, anonymous, contentLanguage } = caller;
        const field = 'from_user';
        const sender = claimedUser(caller, field, message.from_user);
        const thread = await checkThread(message.thread_id, { anonymous, userId: sender, field });
        const origin = { thread, sender, author, contentLanguage };
        return chatMessageMaker({ resolver, addWords }, message, origin);
      },
    }),
  };
}

const NONE: readonly string[] = [];

function kind<Name extends IntakeName>(
  name: Name,
  {
    isOrdered,
    truncated = () => NONE,
    packetMaker,
  }: {
    isOrdered: boolean;
    truncated?: (body: IntakeBody<Name>) => readonly string[];
    packetMaker: (sender: Sender, body: IntakeBody<Name>) => Promise<MakePacket>;
  },
): ItemKind {
  return {
    isOrdered,
    truncated: body => truncated(body as IntakeBody<Name>),
    check: bodyCheck(intakeSchemas[name].body),
    packetMaker: (sender, body) => packetMaker(sender, body as IntakeBody<Name>),
  };
}
