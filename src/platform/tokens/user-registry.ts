import type { JSONWebKeySet } from 'jose';

/** What one service asks of the users' registry when the other, in the same process, is it. */
export interface UserRegistry {
  /** The keys that its tokens are signed with. */
  publicKeys(): Promise<JSONWebKeySet>;
  /** Whom a contact belongs to, and whether that user wants to be found; undefined when it is nobody's. */
  findHolder(contact: string): Promise<{ user_id: string; discoverable: boolean } | undefined>;
}
