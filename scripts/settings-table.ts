import { Settings } from '../src/platform/settings/settings.ts';
import { describeSettings } from '../src/platform/settings/text.ts';

/** The table of all settings in Markdown, as docs/settings.md ends with it. */
export function settingsTable(): string {
  const rows = describeSettings(Settings).map(({ name, fallback, allowed, meaning }) =>
    row([name, fallback, allowed, meaning]),
  );
  return [row(['name', 'default', 'allowed', 'meaning']), '|---|---|---|---|', ...rows, ''].join('\n');
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
