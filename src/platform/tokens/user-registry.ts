import type { JSONWebKeySet, JWTPayload } from 'jose';
import type { Settings } from '../settings/settings.ts';
import type { Scope } from './api-key.ts';

/** The user of a key for programs. */
export interface KeyHolder {
  userId: string;
  /** USER without the scope admin */
  role: string;
  scopes: readonly Scope[];
  expiresAt: Date;
  /** whether the key does not count because its user's role needs a second factor, without which it was created */
  lacksFactor: boolean;
}

/** Why a signed token does not count: its session has ended, or it has not proven a second factor that is required. */
export type Refusal = 'ended' | 'second-factor';

/** The names of users by their ids; those who are unknown or have none are absent. */
export type FindNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** The users' registry, for the service that uses the other one in the same process as its registry. */
export interface UserRegistry {
  /** The keys that its tokens are signed with. */
  publicKeys(): Promise<JSONWebKeySet>;
  /** The user who has a contact, and whether they want to be found; undefined if nobody has it. */
  findHolder(contact: string): Promise<{ user_id: string; discoverable: boolean } | undefined>;
  findNames: FindNames;
  /** The users whose names a user knows because they are members of the same companies, the user included. */
  findColleagues(userId: string): Promise<string[]>;
  /**
   * The language (two letters) of the user who has an email address, and whether the account is active already; for
   * mails to that address alone. Undefined if nobody has it.
   */
  findReader(address: string): Promise<{ language: string; isActive: boolean } | undefined>;
  /**
   * Why a token that it signed does not count: for example after a logout, a password change or a deactivation;
   * undefined if it does.
   */
  refusalOf(claims: JWTPayload): Promise<Refusal | undefined>;
  /** The user of the key for programs with a SHA-256; undefined if it does not count. */
  findKeyHolder(hash: Buffer): Promise<KeyHolder | undefined>;
  /** Calls the listener with a user's `sub` when some of their tokens or keys have ended in this process. */
  onEnded(listener: (userId: string) => void): void;
  /** Writes into its audit what an administrator has decided about notifications that were given up. */
  noteDecision(decision: NotedDecision): Promise<void>;
}

/** An administrator's decision about dead letters. */
export interface NotedDecision {
  action: 'REPLAY_NOTIFICATIONS' | 'DISMISS_NOTIFICATION';
  /** the administrator */
  userId: string;
  /** the client's address */
  ip: string;
  /** how many deliveries */
  count: number;
  /** only of this notification, a ULID */
  notificationId: string | undefined;
  /** the user to whom it is, if it is one */
  recipient: string | undefined;
}

/**
 * Whether the registry that the settings name is a trace backend in another process: its keys and its API are at the
 * addresses of one. Only such a registry gives users a role.
 */
export function namesTraceBackend({
  USER_REGISTRY_JWKS_URL: keys,
  USER_REGISTRY_URL: api,
}: Pick<Settings, 'USER_REGISTRY_JWKS_URL' | 'USER_REGISTRY_URL'>): boolean {
  if (keys === undefined || api === undefined) return false;
  const base = api.replace(/\/api\/*$/, '');
  return base !== api && keys === `${base}/.well-known/jwks.json`;
}

/** Whether the settings name a registry of users, which then counts instead of the trace backend of this process. */
export function namesRegistry(
  settings: Pick<Settings, 'USER_REGISTRY_JWT_SECRET' | 'USER_REGISTRY_JWKS_URL' | 'USER_REGISTRY_URL'>,
): boolean {
  const { USER_REGISTRY_JWT_SECRET, USER_REGISTRY_JWKS_URL, USER_REGISTRY_URL } = settings;
  return (USER_REGISTRY_JWT_SECRET ?? USER_REGISTRY_JWKS_URL ?? USER_REGISTRY_URL) !== undefined;
}
