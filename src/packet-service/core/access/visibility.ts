import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller, ReadableThreads } from './caller.ts';

/** The facts that decide who can read a packet: its id, its thread (uuid form), and whether that was made with a token. */
export interface Guarded {
  id: string;
  /** null outside chat */
  threadId: string | null;
  closed: boolean;
}

/** Queries about threads and shares that visibility needs; threads and packets are in the uuid form. */
export interface VisibilitySources {
  isParticipant(database: Database, threadId: string, userId: string): Promise<boolean>;
  findThreadIds(database: Database, userId: string, options: { openOnly: boolean }): Promise<string[]>;
  isSharedWith(database: Database, packetIds: readonly string[], userId: string): Promise<boolean>;
}

/**
 * Decides who can read which packets: messages of a thread belong to its participants, and to those with whom one of them
 * shared it; everything else to everyone. A request without a token reads the messages of threads that were made
 * without one.
 */
export interface Visibility {
  /** @throws Problem forbidden, unauthenticated */
  checkReader(caller: Caller, packet: Guarded): Promise<void>;
  /** The threads whose messages a caller sees in lists; undefined when there is no restriction. */
  readableThreads(caller: Caller): Promise<ReadableThreads | undefined>;
}

export function packetVisibility(
  database: Database,
  { isParticipant, findThreadIds, isSharedWith }: VisibilitySources,
): Visibility {
  return {
    async checkReader({ user, anonymous }, { id, threadId, closed }) {
      if (anonymous && closed) throw new Problem('packet.needs_token');
      if (user === undefined || threadId === null) return;
      if (await isParticipant(database, threadId, user)) return;
      if (await isSharedWith(database, [id], user)) return;
      throw new Problem('packet.of_foreign_thread');
    },
    async readableThreads({ user, anonymous }) {
      if (user !== undefined) return findThreadIds(database, user, { openOnly: false });
      return anonymous ? 'open' : undefined;
    },
  };
}
