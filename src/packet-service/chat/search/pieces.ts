import { type Part, WIDTH } from './tokens.ts';

/** Neighbouring code points of one kind, between white space. */
interface Run {
  /**
   * Words between spaces are few and come again and again; where a script has no spaces, or a character is a word,
   * the pieces are its short sequences.
   */
  kind: 'letters' | 'unspaced' | 'characters';
  text: string;
}

/**
 * The runs of a word: of scripts without spaces (Thai, Lao, Myanmar, Khmer); of ideographs, kana, Hangul syllables
 * and emoji; of everything else. These ranges, and what white space is, are fixed, because what is stored must be
 * cut the same way for ever, whatever Unicode adds.
 */
const RUNS =
  /([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+)|([\u2e80-\u{10ffff}]+)|[^\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u{10ffff}]+/gu;
const LETTERS_ALONE = /^[^\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff]*$/;
const SPACES = /[\0-\x20]+/;

/** Code units that a joint has of each of the words it joins. */
const JOINT = 2;
/** Pieces that one question asks for, at most: enough to leave few texts over. */
const MAX_WHOLE = 8;

/** What a text is indexed by; a piece that comes twice stands there twice, which the index does not mind. */
export interface Pieces {
  /** the pieces that a keyword may be a part of: the dictionary must have them */
  words: string[];
  /** numbers of all pieces, those of the words first and in their order */
  numbers: number[];
}

/** What must be asked of the index to find the texts that hold a keyword. */
export interface Question {
  /** numbers of pieces that such a text has, all of them */
  whole: number[];
  /** parts of pieces: for each of them, such a text has some word of the dictionary with that part */
  parts: Part[];
}

/**
 * Cuts a text into the pieces that it is indexed by: its words, and where one word meets the next; of scripts
 * without spaces, the up to four code points from each place; of ideographs and other characters, each one and each
 * pair.
 *
 * @param folded what `fold` gave back
 */
export function cut(folded: string): Pieces {
  const words: string[] = [];
  const others: string[] = [];
  let before = '';
  for (const word of folded.split(SPACES)) {
    if (word === '') continue;
    if (before) others.push(joint(before, word));
    before = word;
    for (const { kind, text } of runs(word)) {
      if (kind === 'characters') others.push(...charactersOf(text));
      else if (kind === 'unspaced') words.push(...windowsOf(text));
      else words.push(text);
    }
  }
  return { words, numbers: [...words, ...others].map(pieceNumber) };
}

/**
 * What the texts that hold a keyword have in common. A run at the keyword's edge may go on in the text; one that is
 * closed in on both sides is a piece of the text itself. Parts are only asked for where no words meet: those that do
 * say enough.
 *
 * @param folded the keyword, folded as the texts were
 */
export function question(folded: string): Question {
  const words = folded.split(SPACES);
  const joints = words.slice(1).flatMap((right, at) => {
    const left = words[at] as string;
    const leftKnown = left.length >= JOINT || (at > 0 && left !== '');
    const rightKnown = right.length >= JOINT || (at + 2 < words.length && right !== '');
    return leftKnown && rightKnown ? [joint(left, right)] : [];
  });
  const whole = [...joints];
  const parts: Part[] = [];
  words.forEach((word, at) => {
    const open = { start: at === 0, end: at === words.length - 1 };
    const found = runs(word);
    found.forEach((run, index) => {
      const start = open.start && index === 0;
      const end = open.end && index === found.length - 1;
      const { pieces, part } = ofRun(run, start, end);
      whole.push(...pieces);
      if (part) parts.push(part);
    });
  });
  return { whole: thinned([...new Set(whole)]).map(pieceNumber), parts: joints.length > 0 ? [] : parts };
}

/**
 * The pieces that a run of a keyword has for certain, or else the part that one of them must have.
 *
 * @param start whether the text may go on before the run
 * @param end whether it may go on after it
 */
function ofRun({ kind, text }: Run, start: boolean, end: boolean): { pieces: string[]; part?: Part } {
  if (kind === 'letters') {
    if (!start && !end) return { pieces: [text] };
    return { pieces: [], part: { text, at: !start ? 'start' : !end ? 'end' : 'anywhere' } };
  }
  if (kind === 'characters') {
    const points = [...text];
    return { pieces: points.length === 1 ? points : pairsOf(points) };
  }
  if (text.length >= WIDTH) return { pieces: sideBySide(text) };
  // A window begins at each place. That of a short run is the run itself, unless more may follow.
  return end ? { pieces: [], part: { text, at: 'start' } } : { pieces: [text] };
}

/**
 * The number that stands for a piece in the index: 32 bits of FNV-1a over its UTF-16 code units. Two pieces may
 * share one; every candidate is compared with the keyword itself.
 */
export function pieceNumber(piece: string): number {
  let number = 0x811c9dc5;
  for (let at = 0; at < piece.length; at++) {
    number = Math.imul(number ^ piece.charCodeAt(at), 0x01000193);
  }
  return number | 0;
}

/** The number of a GeoID. A control character keeps it apart from the pieces of texts. */
export function geoidNumber(geoid: string): number {
  return pieceNumber(`\n${geoid}`);
}

function runs(word: string): Run[] {
  if (word === '') return [];
  if (LETTERS_ALONE.test(word)) return [{ kind: 'letters', text: word }];
  return Array.from(word.matchAll(RUNS), ([text, unspaced, characters]) => ({
    kind: unspaced ? 'unspaced' : characters ? 'characters' : 'letters',
    text,
  }));
}

/** Where two words meet, whatever the white space between them: the end of one and the beginning of the other. */
function joint(left: string, right: string): string {
  return `${left.slice(-JOINT)} ${right.slice(0, JOINT)}`;
}

/** The unspaced scripts lie in the basic plane: code units are code points. */
function windowsOf(text: string): string[] {
  const windows: string[] = [];
  for (let at = 0; at < text.length; at++) windows.push(text.slice(at, at + WIDTH));
  return windows;
}

/** The full windows of a run that lie side by side, and its last one. */
function sideBySide(text: string): string[] {
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

/** At most MAX_WHOLE of the pieces, spread over the keyword. */
function thinned(pieces: string[]): string[] {
  const step = Math.max(1, pieces.length / MAX_WHOLE);
  return Array.from(
    { length: Math.min(pieces.length, MAX_WHOLE) },
    (_, n) => pieces[Math.floor(n * step)] as string,
  );
}
