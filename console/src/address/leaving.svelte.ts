/** What is not finished on a screen, and the question before it is left. */

const guards = new Set<() => boolean>();
let question = $state.raw<{ leave: () => void } | undefined>(undefined);

export const leaving = {
  /** whether somebody is asked whether to leave */
  get isAsked() {
    return question !== undefined;
  },
  stay() {
    question = undefined;
  },
  leave() {
    const asked = question;
    question = undefined;
    asked?.leave();
  },
};

/** Whether leaving the screen loses something. */
export function isHeld(): boolean {
  return [...guards].some(guard => guard());
}

/**
 * Asks before the screen is left, and before the page is, for as long as `guard` returns true.
 *
 * @returns what ends it
 */
export function holdWhile(guard: () => boolean): () => void {
  if (guards.size === 0) addEventListener('beforeunload', askBrowser);
  guards.add(guard);
  return () => {
    guards.delete(guard);
    if (guards.size === 0) removeEventListener('beforeunload', askBrowser);
  };
}

/** Asks whether to leave; `leave` is called if the answer is yes. */
export function askBefore(leave: () => void): void {
  question = { leave };
}

function askBrowser(event: BeforeUnloadEvent): void {
  if (isHeld()) event.preventDefault();
}
