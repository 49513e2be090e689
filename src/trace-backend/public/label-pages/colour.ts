/** Light and dark background of the page, as in the style of every page. */
const PAPERS = { light: '#fbf9f4', dark: '#191815' } as const;
/** Minimum contrast of text with its background (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5;

type Rgb = readonly [number, number, number];

/**
 * The style that gives headings and links of a label's page its main colour. A colour too close to the background becomes
 * darker on the light page and lighter on the dark one, until it is readable.
 *
 * @param colour as #25265E or #25E
 * @returns undefined for anything else, so that no text of a label becomes a part of the style
 */
export function styleOf(colour: unknown): string | undefined {
  const rgb = typeof colour === 'string' ? rgbOf(colour.trim()) : undefined;
  if (rgb === undefined) return undefined;
  const light = readable(rgb, PAPERS.light, [0, 0, 0]);
  const dark = readable(rgb, PAPERS.dark, [255, 255, 255]);
  return `:root{--mark:${light}}h1{color:var(--mark)}@media(prefers-color-scheme:dark){:root{--mark:${dark}}}`;
}

function rgbOf(colour: string): Rgb | undefined {
  const digits = /^#([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(colour)?.[1];
  if (digits === undefined) return undefined;
  const full = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits;
  return [0, 2, 4].map(offset => Number.parseInt(full.slice(offset, offset + 2), 16)) as unknown as Rgb;
}

/** The first step from a colour towards black or white that has enough contrast with the paper. */
function readable(colour: Rgb, paper: string, end: Rgb): string {
  const behind = luminance(rgbOf(paper) ?? end);
  for (let step = 0; step < 20; step++) {
    const mixed = colour.map((part, channel) =>
      Math.round(part + ((end[channel] ?? 0) - part) * (step / 20)),
    );
    const [dim, bright] = [luminance(mixed as unknown as Rgb), behind].toSorted((a, b) => a - b);
    if (((bright ?? 0) + 0.05) / ((dim ?? 0) + 0.05) >= MIN_CONTRAST) return hexOf(mixed);
  }
  return hexOf(end);
}

/** Relative luminance (WCAG 2.2), from 0 to 1. */
function luminance(rgb: Rgb): number {
  const [red = 0, green = 0, blue = 0] = rgb.map(part => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function hexOf(rgb: readonly number[]): string {
  return `#${rgb.map(part => part.toString(16).padStart(2, '0')).join('')}`;
}
