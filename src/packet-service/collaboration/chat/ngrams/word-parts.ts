/** Maximum code points of an n-gram. */
export const WIDTH = 4;

/**
 * The n-grams by which the dictionary finds a word: at every code point, the up to four from there. Every part of
 * the word is then the start of an n-gram.
 */
export function wordNgrams(word: string): string[] {
  const points = [...word];
  return [...new Set(points.map((_, at) => points.slice(at, at + WIDTH).join('')))];
}

/** N-grams as PostgreSQL reads a tsvector. */
export function writeVector(ngrams: readonly string[]): string {
  return ngrams.map(quote).join(' ');
}

/** A part of a word, and where it must be in the word. */
export interface Part {
  text: string;
  at: 'start' | 'end' | 'anywhere';
}

/**
 * A tsquery that finds the words of the dictionary which contain a part. Every such word matches; a word that
 * matches need not contain the part.
 */
export function partQuery({ text, at }: Part): string {
  const points = [...text];
  // Only at its end does a word have n-grams shorter than the others.
  if (at === 'end') return quote(points.slice(-WIDTH + 1).join(''));
  if (points.length < WIDTH) return `${quote(text)}:*`;
  const last = points.length - WIDTH;
  const starts = points.flatMap((_, start) =>
    start === last || (start < last && start % WIDTH === 0) ? [start] : [],
  );
  return starts.map(start => quote(points.slice(start, start + WIDTH).join(''))).join(' & ');
}

function quote(ngram: string): string {
  return `'${ngram.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
