/** Code points of a token, at most. */
export const WIDTH = 4;

/**
 * The tokens that the dictionary knows a word by: at every code point, the up to four from there. Any part of the
 * word then begins a token.
 */
export function wordTokens(word: string): string[] {
  const points = [...word];
  return [...new Set(points.map((_, at) => points.slice(at, at + WIDTH).join('')))];
}

/** Tokens as PostgreSQL reads a tsvector. */
export function writeVector(tokens: readonly string[]): string {
  return tokens.map(quote).join(' ');
}

/** A part of a word, and where in the word it must be. */
export interface Part {
  text: string;
  at: 'start' | 'end' | 'anywhere';
}

/**
 * What the dictionary is asked for to find the words that have a part, as PostgreSQL reads a tsquery. Every such
 * word has these tokens; one that has them need not be such a word.
 */
export function partQuery({ text, at }: Part): string {
  const points = [...text];
  // Only at its end has a word tokens that are shorter than the others.
  if (at === 'end') return quote(points.slice(-WIDTH + 1).join(''));
  if (points.length < WIDTH) return `${quote(text)}:*`;
  const last = points.length - WIDTH;
  const starts = points.flatMap((_, start) =>
    start === last || (start < last && start % WIDTH === 0) ? [start] : [],
  );
  return starts.map(start => quote(points.slice(start, start + WIDTH).join(''))).join(' & ');
}

function quote(token: string): string {
  return `'${token.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
