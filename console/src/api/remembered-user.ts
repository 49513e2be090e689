import type { paths } from './generated/trace-backend.d.ts';

export type User =
  paths['/api/user/profile']['get']['responses']['200']['content']['application/json']['data'];

const STORED = 'user';

/**
 * Remembers in this browser who is logged in, so that the console opens without a connection. It is no proof of
 * anything: every request to the services needs the session's cookie.
 *
 * @param user null forgets
 */
export function rememberUser(user: User | null): void {
  if (user === null) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, JSON.stringify(user));
}

/** The user who was logged in the last time, unless they have logged out. */
export function rememberedUser(): User | undefined {
  const text = localStorage.getItem(STORED);
  return text === null ? undefined : (JSON.parse(text) as User);
}
