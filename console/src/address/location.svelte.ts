import { askBefore, isHeld } from './leaving.svelte.ts';

/** The address in the browser. It is the state of a screen: filters are in the query. */
let url = $state.raw(new URL(window.location.href));
const listeners: (() => void)[] = [];

/** Where an address is in the history of the page: a step that is taken back needs to know how far it went. */
const positionOf = (state: unknown) => (state as { position?: number } | null)?.position;
let position = positionOf(history.state) ?? 0;
history.replaceState({ position }, '');
/** What the next change of the history is followed by, if the page itself makes it. */
let afterwards: (() => void) | undefined;

addEventListener('popstate', ({ state }) => {
  const act = afterwards;
  afterwards = undefined;
  if (act) return act();
  const target = new URL(window.location.href);
  const steps = (positionOf(state) ?? position) - position;
  if (steps === 0 || target.pathname === url.pathname || !isHeld()) return arrive();
  // The browser has gone there already: back, and again after the answer.
  afterwards = () => askBefore(() => stepAndArrive(steps));
  history.go(-steps);
});

function stepAndArrive(steps: number): void {
  afterwards = arrive;
  history.go(steps);
}

/** Shows where the browser is. */
function arrive(): void {
  position = positionOf(history.state) ?? position;
  move(new URL(window.location.href));
}

function move(target: URL): void {
  if (target.pathname !== url.pathname) for (const listener of listeners) listener();
  url = target;
}

export const location = {
  get path() {
    return url.pathname;
  },
  get query() {
    return url.searchParams;
  },
  /** the values after #, which no server sees */
  get fragment() {
    return new URLSearchParams(url.hash.slice(1));
  },
  /** path and query */
  get address() {
    return url.pathname + url.search;
  },
};

/** Calls back each time another screen is about to be opened, for as long as the page is open. */
export function onLeave(listener: () => void): void {
  listeners.push(listener);
}

/**
 * Opens an address of the console. Another screen removes the notices before it: give its own afterwards. Where leaving
 * the screen would lose something, a question comes first.
 */
export function go(address: string, { replace = false } = {}): void {
  const target = new URL(address, window.location.href);
  if (target.href === url.href) return;
  if (target.pathname !== url.pathname && isHeld()) askBefore(() => enter(target, replace));
  else enter(target, replace);
}

function enter(target: URL, replace: boolean): void {
  if (!replace) position += 1;
  history[replace ? 'replaceState' : 'pushState']({ position }, '', target);
  move(target);
  if (!replace) scrollTo(0, 0);
}

/**
 * Changes values of the query; empty and undefined ones are removed.
 *
 * @param options.replace without a step back to the values before, as while someone types
 */
export function setQuery(
  values: Record<string, string | undefined>,
  { replace = false }: { replace?: boolean } = {},
): void {
  const query = new URLSearchParams(url.searchParams);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(url.pathname + (text && `?${text}`), { replace });
}

/** Lets links within the console change the screen without loading the page again. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest('a');
  if (!link || link.target || link.download || link.origin !== window.location.origin) return;
  if (/^\/(packet|trace)\//.test(link.pathname) || link.getAttribute('href')?.startsWith('#')) return;
  event.preventDefault();
  go(link.href);
}
