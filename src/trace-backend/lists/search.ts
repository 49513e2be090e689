/** A text as names are compared: neither case nor the way an accent is written counts. */
export function foldName(text: string): string {
  return text.normalize('NFC').toLowerCase().normalize('NFC');
}

/**
 * What a search for a part of a folded text can begin with, in any script: its code points, and its runs of two and of
 * three of them, each once.
 */
export function ngramsOf(folded: string): string[] {
  const points = [...folded];
  const runs = [1, 2, 3].flatMap(length =>
    points.slice(length - 1).map((_, start) => points.slice(start, start + length).join('')),
  );
  return [...new Set(runs)];
}

/** What a text must have among its tokens to hold this one: its longest runs, which say all that shorter ones do. */
export function requiredNgrams(folded: string): string[] {
  const length = Math.min([...folded].length, 3);
  return ngramsOf(folded).filter(token => [...token].length === length);
}

/**
 * The tokens by which an index is to be asked for a text: the rarest two, because each further one costs as much as it
 * is frequent, and what runs together is frequent together.
 *
 * @param frequencies how many of all rows have a token, from 0 to 1; a token that is not in it is rare
 */
export function rarestNgrams(folded: string, frequencies: ReadonlyMap<string, number>): string[] {
  const frequency = (token: string) => frequencies.get(token) ?? 0;
  const [rarest, second] = requiredNgrams(folded).sort((one, other) => frequency(one) - frequency(other));
  return [rarest, second].filter(token => token !== undefined);
}
