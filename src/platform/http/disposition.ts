/**
 * A file's name as it is kept: the last part of whatever path was sent, on one line.
 *
 * @param fallback where nothing is left
 * @param max characters that are kept
 */
export function cleanName(sent: string | undefined, fallback: string, max = 200): string {
  const last = (sent ?? '').toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const name = [...last.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim()].slice(0, max).join('');
  return name === '' || name === '.' || name === '..' ? fallback : name;
}

/** Content-Disposition by which every browser saves a file instead of showing it (RFC 6266, RFC 8187). */
export function contentDisposition(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
