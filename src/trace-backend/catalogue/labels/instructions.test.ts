import { expect, test } from 'vitest';
import { readQrCode } from '../../../../test/helpers/qr-code.ts';
import { MESSAGE_LANGUAGES } from '../../../platform/messages/messages.ts';
import { instructionsPdf } from './instructions.ts';

const URL = 'https://labels.example.org/api/public/product/label/7a0e6e0c-52b6-4f0e-9a5b-0e4f3f6f3c11';
const made = async (more: object = {}) =>
  (
    await instructionsPdf({ title: 'Café (1 kg)', language: 'DE', url: URL, isPublished: true, ...more })
  ).toString('latin1');

test('the instructions are a PDF file with a correct table of objects', async () => {
  const pdf = await made();
  expect(pdf).toMatch(/^%PDF-1\.4\n/);
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf)?.[1]);
  const [, count, rows = ''] = /^xref\n0 (\d+)\n([\s\S]*?)trailer/.exec(pdf.slice(start)) ?? [];
  const offsets = rows.match(/\d{10}(?= \d{5} n)/g) ?? [];
  expect(offsets).toHaveLength(Number(count) - 1);
  for (const [index, offset] of offsets.entries()) {
    expect(pdf.slice(Number(offset))).toMatch(new RegExp(`^${index + 1} 0 obj\n`));
  }
  const [, length, content] = /\/Length (\d+) >>\nstream\n([\s\S]*)\nendstream/.exec(pdf) as string[];
  expect(content).toHaveLength(Number(length));
});

test('the font of the page has every character of the instructions, in every language', async () => {
  for (const language of MESSAGE_LANGUAGES) {
    const lines = (await made({ language, isPublished: false })).match(/\(.*\) Tj/g) as string[];
    expect(
      lines.filter(line => line === '() Tj'),
      language,
    ).toHaveLength(1);
  }
});

test('they have the code and URL of the page, and texts in the language of the label', async () => {
  const pdf = await made();
  expect(pdf).toContain('(Café \\(1 kg\\)) Tj');
  expect(pdf).toContain('Der Code führt zu dieser Seite:');
  expect(pdf.match(/\(([^)]*)\) Tj/g)?.join('')).toContain(URL.slice(0, 80));
  expect(await made({ language: 'pt' })).toContain('The code leads to this page:');
  expect(await made({ isPublished: false })).toContain('noch nicht veröffentlicht');
  expect(await made({ title: 'ቡና' })).not.toContain('/F1 18 Tf');

  const squares = [...pdf.matchAll(/^([\d.]+) ([\d.]+) ([\d.]+) [\d.]+ re$/gm)].map(match =>
    match.slice(1).map(Number),
  ) as [number, number, number][];
  const shapes = squares.map(
    ([x, y, side]) => `<rect x="${x}" y="${842 - y - side}" width="${side}" height="${side}"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 595 842" width="1190" height="1684"><rect width="595" height="842" fill="#fff"/>${shapes.join('')}</svg>`;
  expect(await readQrCode(svg)).toBe(URL);
});
