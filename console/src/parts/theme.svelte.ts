export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

let current = $state<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? 'system');

/** The chosen theme. */
export function theme(): Theme {
  return current;
}

/** Changes the theme, for this browser; public/theme.js sets it at the next start. */
export function setTheme(chosen: Theme): void {
  current = chosen;
  if (chosen === 'system') {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem('theme');
    return;
  }
  document.documentElement.dataset.theme = chosen;
  localStorage.setItem('theme', chosen);
}
