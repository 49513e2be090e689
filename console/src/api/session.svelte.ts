import { dropHeld, isHeld } from '../address/leaving.svelte.ts';
import { loseConnection, onBack, reach } from './connection.svelte.ts';
import { Failure, failureOf } from './failure.ts';
import { rememberedUser, rememberUser, type User } from './remembered-user.ts';

export type { User };

/** undefined until the services have answered, null without a login */
let user = $state.raw<User | null | undefined>(undefined);
/** what waits for the dialog of an ended session */
let waiting = $state.raw<((isBack: boolean) => void)[]>([]);

let isErased = $state(false);
/** whether the user has logged out in another tab while something was unsaved in this one */
let isLocked = $state(false);
/** whose page this is: what it shows, and what its modules keep, is for this user alone */
let owner: number | undefined;

/** Other tabs of the console. */
const tabs = new BroadcastChannel('session');
tabs.addEventListener('message', ({ data }) => {
  if (data === 'logout') lockAfterLogout();
  if (data === 'login') void loadUser().catch(() => {});
});

/** The user who is logged in. */
export const session = {
  get user() {
    return user;
  },
  get isAdministrator() {
    return user?.role === 'SYSTEM_ADMIN';
  },
  /** for those who may manage users */
  get isRegionalAdministrator() {
    return user?.role === 'SYSTEM_ADMIN' || user?.role === 'REGIONAL_ADMIN';
  },
  /** Whether the account was erased just now. */
  get isErased() {
    return isErased;
  },
  /** Whether the session has ended while something was being done. */
  get hasEnded() {
    return isLocked || waiting.length > 0;
  },
  /** Whether nobody may see the screen until its user has logged in again. */
  get isLocked() {
    return isLocked;
  },
};

/** Answers with these come from a proxy that does not reach the services. */
const UNREACHABLE = new Set([0, 502, 504]);

/** Whether the services have not said yet that the user who is shown is logged in. */
let isRemembered = false;

function setCurrent(found: User | null): void {
  user = found;
  isRemembered = false;
  isLocked = false;
  rememberUser(found);
}

/** Whether the page is another user's; then it is loaded again, without anything of theirs. */
function startsOver(found: User): boolean {
  owner ??= found.id;
  if (owner === found.id) return false;
  rememberUser(found);
  dropHeld();
  location.reload();
  return true;
}

/** Takes over who has logged in, and lets go on what waited for it. */
function welcome(found: User): void {
  if (startsOver(found)) return;
  setCurrent(found);
  goOn(true);
}

/** After a logout in another tab: what is unsaved here stays, hidden, for its user alone. */
function lockAfterLogout(): void {
  // First, because forms that are being sent are unsaved from now on.
  isLocked = true;
  if (user && isHeld()) rememberUser(null);
  else abandon();
}

function showRemembered(remembered: User): void {
  if (startsOver(remembered)) return;
  user = remembered;
  isRemembered = true;
}

async function call(method: string, path: string, body?: object): Promise<unknown> {
  const response = await reach(`/trace/api/user/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => {
    throw new Failure('offline', 0);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw failureOf(answer, response);
  return (answer as { data?: unknown } | undefined)?.data;
}

/** How long the services may take to say who is logged in before it is who was the last time, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Finds out who is logged in; without a connection, it is who was the last time. */
export async function loadUser(): Promise<void> {
  const remembered = rememberedUser();
  const late = setTimeout(() => {
    if (user === undefined && remembered) showRemembered(remembered);
  }, PATIENCE_MS);
  try {
    const found = await askUser();
    if (found) welcome(found);
    // If the session of the user who is shown has ended, the next request asks for a login above the screen.
    else if (!isRemembered && !isLocked) setCurrent(null);
  } catch (error) {
    if (!remembered || !(error instanceof Failure) || !UNREACHABLE.has(error.status)) throw error;
    showRemembered(remembered);
    loseConnection();
    const end = onBack(() => {
      end();
      void loadUser().catch(() => {});
    });
  } finally {
    clearTimeout(late);
  }
}

async function askUser(): Promise<User | null> {
  try {
    return (await call('GET', 'profile')) as User;
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 401) throw error;
    return (await renewed()) ?? null;
  }
}

/**
 * Logs in, and lets go on what waited for it.
 *
 * @throws Failure; its field `code` asks for the second factor
 */
export async function login(credentials: {
  username: string;
  password: string;
  code?: string;
}): Promise<void> {
  const found = (await call('POST', 'login', credentials)) as User;
  isErased = false;
  tabs.postMessage('login');
  welcome(found);
}

/**
 * Logs out in every tab of this browser.
 *
 * @param everywhere in every other browser and app of the user as well
 * @throws Failure
 */
export async function logout(everywhere = false): Promise<void> {
  await call('POST', `logout?everywhere=${everywhere}`).catch(error => {
    if (!(error instanceof Failure) || error.status !== 401) throw error;
  });
  tabs.postMessage('logout');
  abandon();
}

/** Leaves, after the account was erased. */
export function leaveErased(): void {
  isErased = true;
  tabs.postMessage('logout');
  abandon();
}

/** Gives up what waits for a login. */
export function abandon(): void {
  setCurrent(null);
  goOn(false);
}

/** The name that the user has chosen; undefined if it is the one that the program gave to the first administrator. */
export function ownName(): { name: string; surname: string } | undefined {
  if (!user || (user.name === 'First' && user.surname === 'Administrator')) return undefined;
  return user;
}

/** Whether email reaches the user: the placeholder address of the first administrator receives none. */
export function hasMailbox(): boolean {
  return user?.email !== 'admin@fieldtrace.local';
}

/** Takes over a change of the user's own profile. */
export function setUser(changed: User): void {
  user = changed;
  // The answer may come after a logout in another tab.
  if (!isLocked) rememberUser(changed);
}

function goOn(isBack: boolean): void {
  const all = waiting;
  waiting = [];
  for (const resume of all) resume(isBack);
}

let renewing: Promise<User | undefined> | undefined;

/** A new access token for the session, if it has not ended; concurrent calls share one request. */
function renewed(): Promise<User | undefined> {
  renewing ??= call('POST', 'refresh_authentication')
    .then(
      found => found as User,
      error => {
        if (error instanceof Failure && error.status === 401) return undefined;
        throw error;
      },
    )
    .finally(() => {
      renewing = undefined;
    });
  return renewing;
}

/** Renews the session, unless it has ended. */
export async function renewSession(): Promise<boolean> {
  const found = await renewed();
  if (!found) return false;
  welcome(found);
  return true;
}

/** Renews the session, or waits until the user has logged in again. */
export async function regainSession(): Promise<boolean> {
  if (await renewSession()) return true;
  // The page of the login is shown already.
  if (!user) return false;
  return new Promise(resolve => {
    waiting = [...waiting, resolve];
  });
}
