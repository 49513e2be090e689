import { SvelteSet } from 'svelte/reactivity';

const STORED = 'navigation-folded';

const groups = new SvelteSet<string>((localStorage.getItem(STORED) ?? '').split(',').filter(Boolean));

/** The groups of the navigation that are closed, which this browser remembers. */
export const folded = {
  has: (group: string): boolean => groups.has(group),
  set(group: string, isFolded: boolean): void {
    groups[isFolded ? 'add' : 'delete'](group);
    localStorage.setItem(STORED, [...groups].join());
  },
};
