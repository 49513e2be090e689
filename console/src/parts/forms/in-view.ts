/** The actions of a person who moves on from a field, or looks somewhere else. */
const ACTIONS = ['keydown', 'pointerdown', 'wheel', 'touchmove', 'focusout'];

/**
 * Focuses a field, and keeps it in the middle of the screen while the page around it changes its height, until somebody
 * does something: what is above it may still be loading.
 */
export function focusInView(field: HTMLElement): void {
  field.focus({ preventScroll: true });
  // It is called for the first time when the page has its height.
  const page = new ResizeObserver(() => {
    if (field.isConnected) field.scrollIntoView({ block: 'center' });
    else page.disconnect();
  });
  page.observe(document.body);
  const done = new AbortController();
  const leave = () => {
    page.disconnect();
    done.abort();
  };
  for (const action of ACTIONS)
    addEventListener(action, leave, { capture: true, passive: true, signal: done.signal });
}
