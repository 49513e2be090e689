import { expect, test } from 'vitest';
import { styleOf } from './colour.ts';

test('a readable colour stays on the light page, and becomes lighter on the dark one', () => {
  expect(styleOf('#25265E')).toMatch(
    /^:root\{--mark:#25265e\}h1\{color:var\(--mark\)\}@media\S+--mark:#[89]/,
  );
  expect(styleOf(' #070 ')).toMatch(/^:root\{--mark:#007700\}/);
});

test('a pale colour becomes darker on the light page, and stays on the dark one', () => {
  expect(styleOf('#ffff00')).toMatch(/^:root\{--mark:#[67][0-9a-f]([67])[0-9a-f]00\}.*--mark:#ffff00\}\}$/);
});

test('only colours in hexadecimal digits become part of the style', () => {
  for (const text of ['red', '#12', '#ggg', '#000}body{display:none', '', undefined, 7, { a: 1 }])
    expect(styleOf(text)).toBeUndefined();
});
