/** Characters of a name that are looked at. */
const MAX_LENGTH = 64;

/**
 * The known name that an unknown one was probably meant to be: in another case, with other separators, or with a few
 * letters wrong.
 *
 * @param letters how many may be wrong; a third of them if it is not given
 */
export function nearestName(unknown: string, known: readonly string[], letters?: number): string | undefined {
  const meant = plainName(unknown);
  let nearest: string | undefined;
  let least = (letters ?? Math.max(1, Math.floor(meant.length / 3))) + 1;
  for (const name of known) {
    const distance = editDistance(meant, plainName(name));
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

/** A name without its case and separators. */
export function plainName(name: string): string {
  return name
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replaceAll(/[_\-.\s]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours (Damerau-Levenshtein, optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(
        (above[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (above[j - 1] as number) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] as number) + 1);
      }
      row.push(least);
    }
    before = above;
    above = row;
  }
  return above[b.length] as number;
}

/** The part of a client's unknown name that is shown. */
export function shownName(name: string): string {
  return name.slice(0, MAX_LENGTH).toWellFormed();
}
