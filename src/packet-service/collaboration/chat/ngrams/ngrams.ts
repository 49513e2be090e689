import { type Part, WIDTH } from './word-parts.ts';

/** A maximal sequence of code points of one kind, between white space. */
interface Run {
  /**
   * Words between spaces are few and repeat, so they are indexed required; where a script has no spaces, or a
   * character is a word, short sequences are indexed.
   */
  kind: 'letters' | 'unspaced' | 'characters';
  text: string;
}

/**
 * The runs of a word: of scripts without spaces (Thai, Lao, Myanmar, Khmer); of ideographs, kana, Hangul syllables
 * and emoji; of everything else. These ranges, and what white space is, are fixed, because stored texts must be split
 * the same way forever, whatever Unicode adds.
 */
const RUNS =
  /([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)|([\u2e80-\u{10ffff}]+)|[^\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u{10ffff}]+/gu;
const LETTERS_ALONE = /^[^\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff]*$/;
const SPACES = /[\0-\x20]+/;

/** Code units of each of the two words in the n-gram of a word boundary. */
const BOUNDARY = 2;
/** Maximum n-grams per query: enough to leave few candidates. */
const MAX_REQUIRED = 8;

/** The index terms of a text. Repeated n-grams are listed repeatedly, which the index accepts. */
export interface Ngrams {
  /** the n-grams that may contain a keyword: the dictionary must have them */
  words: string[];
  /** numbers of all n-grams, those of `words` first and in their order */
  numbers: number[];
}

/** The index query for the texts that contain a keyword. */
export interface NgramQuery {
  /** numbers of n-grams, all of which such a text has */
  required: number[];
  /** parts of words: for each of them, such a text has some word of the dictionary that contains it */
  parts: Part[];
}

/**
 * The n-grams that a text is indexed by: its words, and the boundary between each word and the next; of scripts
 * without spaces, the up to four code points that begin at each position; of ideographs and other characters, each
 * one and each pair.
 *
 * @param folded the result of `fold`
 */
export function ngramsOf(folded: string): Ngrams {
  const words: string[] = [];
  const others: string[] = [];
  let before = '';
  for (const word of folded.split(SPACES)) {
    if (word === '') continue;
    if (before) others.push(boundary(before, word));
    before = word;
    for (const { kind, text } of runs(word)) {
      if (kind === 'characters') others.push(...charactersOf(text));
      else if (kind === 'unspaced') words.push(...windowsOf(text));
      else words.push(text);
    }
  }
  return { words, numbers: [...words, ...others].map(ngramNumber) };
}

/**
 * The index terms that all texts with a keyword share. A run at the keyword's edge may continue in the text; one
 * that is enclosed on both sides is an n-gram of the text itself. Parts of words are needed only where the keyword
 * has no word boundary: a boundary is selective enough.
 *
 * @param folded the folded keyword
 */
export function ngramQuery(folded: string): NgramQuery {
  const words = folded.split(SPACES);
  const boundaries = words.slice(1).flatMap((right, at) => {
    const left = words[at] as string;
    const leftKnown = left.length >= BOUNDARY || (at > 0 && left !== '');
    const rightKnown = right.length >= BOUNDARY || (at + 2 < words.length && right !== '');
    return leftKnown && rightKnown ? [boundary(left, right)] : [];
  });
  const required = [...boundaries];
  const parts: Part[] = [];
  words.forEach((word, at) => {
    const open = { start: at === 0, end: at === words.length - 1 };
    const wordRuns = runs(word);
    wordRuns.forEach((run, index) => {
      const start = open.start && index === 0;
      const end = open.end && index === wordRuns.length - 1;
      const { ngrams, part } = ofRun(run, start, end);
      required.push(...ngrams);
      if (part) parts.push(part);
    });
  });
  return {
    required: sampled([...new Set(required)]).map(ngramNumber),
    parts: boundaries.length > 0 ? [] : parts,
  };
}

/**
 * The n-grams that a text with this run of a keyword certainly has, or otherwise the part that one of its words
 * contains.
 *
 * @param start whether the text may continue before the run
 * @param end whether it may continue after it
 */
function ofRun({ kind, text }: Run, start: boolean, end: boolean): { ngrams: string[]; part?: Part } {
  if (kind === 'letters') {
    if (!start && !end) return { ngrams: [text] };
    return { ngrams: [], part: { text, at: !start ? 'start' : !end ? 'end' : 'anywhere' } };
  }
  if (kind === 'characters') {
    const points = [...text];
    return { ngrams: points.length === 1 ? points : pairsOf(points) };
  }
  if (text.length >= WIDTH) return { ngrams: adjacentWindows(text) };
  // An n-gram begins at each position. A short run is its own n-gram, unless more may follow.
  return end ? { ngrams: [], part: { text, at: 'start' } } : { ngrams: [text] };
}

/**
 * The number of an n-gram in the index: 32 bits of FNV-1a over its UTF-16 code units. Two n-grams may share one;
 * every candidate is compared with the keyword itself.
 */
export function ngramNumber(ngram: string): number {
  let number = 0x811c9dc5;
  for (let at = 0; at < ngram.length; at++) {
    number = Math.imul(number ^ ngram.charCodeAt(at), 0x01000193);
  }
  return number | 0;
}

/** The number of a GeoID. A control character keeps it apart from the n-grams of texts. */
export function geoidNumber(geoid: string): number {
  return ngramNumber(`\n${geoid}`);
}

function runs(word: string): Run[] {
  if (word === '') return [];
  if (LETTERS_ALONE.test(word)) return [{ kind: 'letters', text: word }];
  return Array.from(word.matchAll(RUNS), ([text, unspaced, characters]) => ({
    kind: unspaced ? 'unspaced' : characters ? 'characters' : 'letters',
    text,
  }));
}

/** The boundary of two words, whatever the white space between them: the end of one and the start of the next. */
function boundary(left: string, right: string): string {
  return `${left.slice(-BOUNDARY)} ${right.slice(0, BOUNDARY)}`;
}

/** The unspaced scripts are in the basic plane: code units are code points. */
function windowsOf(text: string): string[] {
  const windows: string[] = [];
  for (let at = 0; at < text.length; at++) windows.push(text.slice(at, at + WIDTH));
  return windows;
}

/** The full n-grams of a run that do not overlap, and its last one. */
function adjacentWindows(text: string): string[] {
  const last = text.length - WIDTH;
  const starts = Array.from({ length: Math.ceil(last / WIDTH) }, (_, n) => n * WIDTH);
  return [...starts, last].map(at => text.slice(at, at + WIDTH));
}

function charactersOf(text: string): string[] {
  const points = [...text];
  return [...points, ...pairsOf(points)];
}

function pairsOf(points: readonly string[]): string[] {
  return points.slice(1).map((point, at) => `${points[at]}${point}`);
}

/** At most MAX_REQUIRED of the n-grams, spread over the keyword. */
function sampled(ngrams: string[]): string[] {
  const step = Math.max(1, ngrams.length / MAX_REQUIRED);
  return Array.from(
    { length: Math.min(ngrams.length, MAX_REQUIRED) },
    (_, n) => ngrams[Math.floor(n * step)] as string,
  );
}
