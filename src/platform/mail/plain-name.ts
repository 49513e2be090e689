/**
 * A user's name in the form in which mails show it: one short run of visible characters, without line breaks or
 * turned text, in which no mail program finds a link or an address (dots become `[.]`, @ becomes `[at]`).
 *
 * @param length characters that are shown, at most
 */
export function plainName(text: string, length: number): string {
  const characters = [...text.replace(/[\p{C}\p{Z}"<>]+/gu, ' ').trim()];
  const shown = characters.slice(0, length).join('');
  const defanged = shown
    .replaceAll(/:[/\\]*[/\\]/g, ' ')
    .replaceAll(/[.\u3002\uff0e\uff61\u2024]/g, '[.]')
    .replaceAll(/[@\ufe6b\uff20]/g, '[at]');
  return characters.length > length ? `${defanged}...` : defanged;
}
