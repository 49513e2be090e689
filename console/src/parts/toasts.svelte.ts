import { onLeave } from '../address/location.svelte.ts';

export interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
}

let list = $state.raw<Toast[]>([]);
let count = 0;

/** How long a notice is shown, in milliseconds. */
const SHOWN_MS = 8000;

/** The notices that are shown. */
export function toasts(): Toast[] {
  return list;
}

/**
 * Shows a notice, which screen readers announce.
 *
 * @returns its id
 */
export function toast(text: string, kind: Toast['kind'] = 'done'): number {
  const id = ++count;
  list = [...list, { id, text, kind }];
  setTimeout(() => dismiss(id), SHOWN_MS);
  return id;
}

// On another screen the notices of what was done are out of place; those of failures stay.
onLeave(() => {
  list = list.filter(({ kind }) => kind === 'failed');
});

export function dismiss(id: number): void {
  list = list.filter(entry => entry.id !== id);
}
