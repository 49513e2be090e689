import { askBefore, isHeld } from './leaving.svelte.ts';

/** The address in the browser. It is the state of a screen: filters are in the query. */
let url = $state.raw(new URL(window.location.href));
const listeners: (() => void)[] = [];

/** The position of an address in the history of the page, which tells how many steps to undo. */
const positionOf = (state: unknown) => (state as { position?: number } | null)?.position;
let position = positionOf(history.state) ?? 0;
history.replaceState({ position }, '');
/** Called after the next change of the history, if the page itself causes it. */
let afterwards: (() => void) | undefined;

addEventListener('popstate', ({ state }) => {
  const act = afterwards;
  afterwards = undefined;
  if (act) return act();
  const target = new URL(window.location.href);
  const steps = (positionOf(state) ?? position) - position;
  if (steps === 0 || target.pathname === url.pathname || !isHeld()) return arrive();
  // The browser has moved already: go back, and forth again after the answer.
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

/** Calls the listener before each change of the screen, until the page is closed. */
export function onLeave(listener: () => void): void {
  listeners.push(listener);
}

/**
 * Opens an address of the console, after a question if input would be lost. A change of the screen removes all notices:
 * show new ones afterwards.
 */
export function go(address: string, { replace = false, stay = false } = {}): void {
  const target = new URL(address, window.location.href);
  if (target.href === url.href) return;
  const enter = () => {
    if (!replace) position += 1;
    history[replace ? 'replaceState' : 'pushState']({ position }, '', target);
    move(target);
    if (!replace && !stay) scrollTo(0, 0);
  };
  if (target.pathname !== url.pathname && isHeld()) askBefore(enter);
  else enter();
}

/**
 * Changes values of the query; empty and undefined ones are removed.
 *
 * @param options.replace adds no step to the history, for example while the user types
 * @param options.stay keeps the position on the page, as `replace` does
 */
export function setQuery(
  values: Record<string, string | undefined>,
  options: { replace?: boolean; stay?: boolean } = {},
): void {
  const query = new URLSearchParams(url.searchParams);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(url.pathname + (text && `?${text}`), options);
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
