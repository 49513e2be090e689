/** A text as names are compared: neither case nor the way an accent is written counts. */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().normalize('NFC');
}

/** The code points of a folded text and its pairs of neighbours, each once: what a search narrows by, in any script. */
export function tokensOf(folded: string): string[] {
  const points = [...folded];
  const pairs = points.slice(1).map((point, index) => `${points[index]}${point}`);
  return [...new Set([...points, ...pairs])];
}

/** What a text must have among its tokens to hold this one: the pairs say all, where there is a pair. */
export function neededTokens(folded: string): string[] {
  const points = [...folded];
  return points.length < 2 ? points : tokensOf(folded).filter(token => [...token].length === 2);
}
