import { contrastOf } from '../../../parts/contrast.ts';

/** The backgrounds of the page of a label, light and dark (src/trace-backend/public/label-pages/colour.ts). */
const PAPERS = { light: '#fbf9f4', dark: '#191815' } as const;
/** Least contrast of text with its background (WCAG 2.2, 1.4.3). */
const LEAST = 4.5;

/** A colour as a picker takes it: six hexadecimal digits; undefined if it is written in another way. */
export function hexOf(text: string): string | undefined {
  const digits = /^#([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim())?.[1];
  if (digits === undefined) return undefined;
  return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`.toLowerCase();
}

/** A warning about a colour. */
export type ColourNote = 'darker' | 'lighter' | 'ignored';

/** The warning about a heading colour on the page of a label, which adapts it; undefined if there is none. */
export function colourNote(text: string): ColourNote | undefined {
  if (text.trim() === '') return undefined;
  const hex = hexOf(text);
  if (hex === undefined) return 'ignored';
  if (contrastOf(hex, PAPERS.light) < LEAST) return 'darker';
  return contrastOf(hex, PAPERS.dark) < LEAST ? 'lighter' : undefined;
}
