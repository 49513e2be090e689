import type english from '../../../../messages/en/services/label-instructions.json';
import { readMessages } from '../../../platform/messages/messages.ts';

/*
 * A page for printers: PDF 1.4 (ISO 32000-1), one A4 page with the code as vectors. No library writes it: it needs only
 * rectangles, and text in a font that every reader has.
 */

/** Points in a millimetre. */
const MM = 72 / 25.4;
const PAGE = { width: 210 * MM, height: 297 * MM };
const MARGIN = 25 * MM;
/** Side of the code, without its quiet zone. */
const CODE = 60 * MM;
const FONT = { title: 18, text: 11, leading: 16 };
/** Maximum characters per line of text. */
const LINE = 84;

const STEPS = ['print', 'margin', 'proof', 'address'] as const;

const wordsIn = readMessages<`label-instructions.${keyof typeof english}`>(
  'services/label-instructions.json',
);

interface Instructions {
  /** heading; left out if the font of the page lacks one of its characters */
  title: string;
  /** BCP 47; English for languages without a translation */
  language: string;
  url: string;
  isPublished: boolean;
}

/** Instructions for printing a label's code, with the code, as a PDF file. */
export async function instructionsPdf({ title, language, url, isPublished }: Instructions): Promise<Buffer> {
  const { default: qrcode } = await import('qrcode');
  const { modules } = qrcode.create(url, { errorCorrectionLevel: 'M' });
  const { t } = wordsIn(language);
  const top = PAGE.height - MARGIN;
  const codeBottom = top - 3 * FONT.leading - CODE;
  const lines = [
    ...STEPS.map(step => t(`label-instructions.step.${step}`)),
    ...linesOf(url),
    ...(isPublished ? [] : ['', t('label-instructions.unpublished')]),
  ];
  const content = [
    ...(latin1(title) === undefined ? [] : [textAt(top, FONT.title, [title])]),
    codeAt(codeBottom, modules),
    textAt(codeBottom - 2 * FONT.leading, FONT.text, lines),
  ].join('\n');
  return file(content);
}

/** Breaks a long text into lines. */
function linesOf(text: string): string[] {
  return text.match(new RegExp(`.{1,${LINE}}`, 'gsu')) ?? [];
}

function textAt(y: number, size: number, lines: readonly string[]): string {
  const instructions = lines.map(line => `(${latin1(line) ?? ''}) Tj T*`);
  return [
    'BT',
    `/F1 ${size} Tf ${FONT.leading} TL`,
    `${number(MARGIN)} ${number(y)} Td`,
    ...instructions,
    'ET',
  ].join('\n');
}

function codeAt(bottom: number, { size, data }: { size: number; data: Uint8Array }): string {
  const side = CODE / size;
  const squares = Array.from(data, (isDark, index) => {
    const [row, column] = [Math.floor(index / size), index % size];
    const [x, y] = [MARGIN + column * side, bottom + CODE - (row + 1) * side];
    return isDark ? `${number(x)} ${number(y)} ${number(side)} ${number(side)} re` : '';
  });
  return `${squares.filter(Boolean).join('\n')}\nf`;
}

function number(value: number): string {
  return value.toFixed(3);
}

/** A text as the content of a PDF string in WinAnsi; undefined if it has characters outside Latin-1. */
function latin1(text: string): string | undefined {
  if (/[^\u0020-\u007e\u00a0-\u00ff]/u.test(text)) return undefined;
  return text.replaceAll(/[\\()]/g, '\\$&');
}

function file(content: string): Buffer {
  const length = Buffer.byteLength(content, 'latin1');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${number(PAGE.width)} ${number(PAGE.height)}] ` +
      '/Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Length ${length} >>\nstream\n${content}\nendstream`,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = Buffer.byteLength(text, 'latin1');
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const start = Buffer.byteLength(text, 'latin1');
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
