/** A stretch of a text, and whether it is a hit. */
export interface Stretch {
  text: string;
  isHit: boolean;
}

/** A text without the difference of upper and lower case, with the place in the text of each of its code units. */
function fold(text: string): { folded: string; places: number[] } {
  let folded = '';
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    const small = character.toUpperCase().toLowerCase();
    folded += small;
    for (let unit = 0; unit < small.length; unit++) places.push(at);
    at += character.length;
  }
  places.push(at);
  return { folded, places };
}

/** A text divided at every occurrence of a keyword in it, in any script; upper and lower case are equal. */
export function markHits(text: string, keyword: string): Stretch[] {
  const { folded, places } = fold(text);
  const wanted = fold(keyword).folded;
  const stretches: Stretch[] = [];
  let done = 0;
  const add = (end: number, isHit: boolean) => {
    if (end > done) stretches.push({ text: text.slice(done, end), isHit });
    done = Math.max(done, end);
  };
  for (let from = 0; wanted !== ''; ) {
    const found = folded.indexOf(wanted, from);
    if (found < 0) break;
    from = found + wanted.length;
    add(places[found] as number, false);
    // A hit can end within a character that has several when it is small.
    const last = places[from - 1] as number;
    add(last + String.fromCodePoint(text.codePointAt(last) as number).length, true);
  }
  add(text.length, false);
  return stretches;
}
