/** Unsaved input on a screen, and the question before the user leaves it. */

/** Guards, which say whether something is unsaved, with the elements that they guard. */
const guards = new Map<() => boolean, Element>();
let question = $state.raw<{ leave: () => void } | undefined>(undefined);

export const leaving = {
  /** whether the question is open */
  get isAsking() {
    return question !== undefined;
  },
  stay() {
    question = undefined;
  },
  leave() {
    const answered = question;
    question = undefined;
    answered?.leave();
  },
};

/** Whether leaving the screen, or only one part of it, loses something. */
export function isHeld(part: Node = document): boolean {
  return [...guards].some(([guard, element]) => part.contains(element) && guard());
}

/**
 * Asks before the screen is left, and before the page is, for as long as `guard` returns true.
 *
 * @param element contains the input that would be lost
 * @returns a function that removes the guard
 */
export function holdWhile(guard: () => boolean, element: Element): () => void {
  if (guards.size === 0) addEventListener('beforeunload', askBrowser);
  guards.set(guard, element);
  return () => {
    guards.delete(guard);
    if (guards.size === 0) removeEventListener('beforeunload', askBrowser);
  };
}

/** Discards everything unsaved without a question. */
export function dropHeld(): void {
  guards.clear();
  removeEventListener('beforeunload', askBrowser);
}

/** Asks whether to leave; `leave` is called if the answer is yes. */
export function askBefore(leave: () => void): void {
  question = { leave };
}

/** Leaves the screen or a part of it: at once, or after the question if input would be lost. */
export function leaveOrAsk(leave: () => void, part?: Node): void {
  if (isHeld(part)) askBefore(leave);
  else leave();
}

function askBrowser(event: BeforeUnloadEvent): void {
  if (isHeld()) event.preventDefault();
}
