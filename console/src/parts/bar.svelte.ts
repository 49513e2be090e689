import type { Snippet } from 'svelte';

/** The content that a screen puts into the bar above it. */
interface BarContent {
  /** the name of what is shown, at the end of the path to it */
  title: string;
  /** its buttons, the main one last */
  actions?: Snippet | undefined;
}

let content = $state.raw<BarContent | undefined>(undefined);

/** The bar's content for the open screen. */
export function barContent(): BarContent | undefined {
  return content;
}

/** Shows something in the bar; returns what removes it, unless another screen has replaced it. */
export function showInBar(shown: BarContent): () => void {
  content = shown;
  return () => {
    if (content === shown) content = undefined;
  };
}
