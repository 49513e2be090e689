/** Normalises a name for comparison: case and the encoding of accents are ignored. */
export function foldName(text: string): string {
  return text.normalize('NFC').toLowerCase().normalize('NFC');
}

/**
 * The n-grams of a folded text, in any script: its code points and its runs of two and three code points, each once.
 */
export function ngramsOf(folded: string): string[] {
  const points = [...folded];
  const runs = [1, 2, 3].flatMap(length =>
    points.slice(length - 1).map((_, start) => points.slice(start, start + length).join('')),
  );
  return [...new Set(runs)];
}

/** The n-grams that every text with this part contains: its longest ones, which imply the shorter ones. */
function requiredNgrams(folded: string): string[] {
  const length = Math.min([...folded].length, 3);
  return ngramsOf(folded).filter(token => [...token].length === length);
}

/**
 * The n-grams for an index query for a text: the rarest two, because each additional one costs in proportion to its
 * frequency, and n-grams of a word are frequent together.
 *
 * @param frequencies the share of rows that have an n-gram, from 0 to 1; missing ones are rare
 */
export function rarestNgrams(folded: string, frequencies: ReadonlyMap<string, number>): string[] {
  const frequency = (token: string) => frequencies.get(token) ?? 0;
  const [rarest, second] = requiredNgrams(folded).sort((a, b) => frequency(a) - frequency(b));
  return [rarest, second].filter(token => token !== undefined);
}
