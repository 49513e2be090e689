/**
 * A name as the words of a mail show it: one short run of visible characters, without line breaks or turned text, in
 * which no mail program finds a link or an address (a dot within a word becomes `[.]`, @ becomes `[at]`). All other
 * characters stay as they are: the HTML of a mail escapes them, and no name of a user is in a header.
 *
 * @param length characters that are shown, at most
 */
export function plainName(text: string, length: number): string {
  return firstOf(text, length, shown =>
    shown
      .replaceAll(/:[/\\]*[/\\]/g, ' ')
      .replaceAll(/[.\u3002\uff0e\uff61\u2024](?=\S)/g, '[.]')
      .replaceAll(/[@\ufe6b\uff20]/g, '[at]'),
  );
}

/** A text that an administrator chose, on one short line of visible characters, `length` of them at most. */
export function shortLine(text: string, length: number): string {
  return firstOf(text, length, shown => shown);
}

function firstOf(text: string, length: number, show: (shown: string) => string): string {
  const characters = [...text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()];
  const shown = show(characters.slice(0, length).join(''));
  return characters.length > length ? `${shown}...` : shown;
}
