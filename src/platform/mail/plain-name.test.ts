import { expect, test } from 'vitest';
import { plainName } from './plain-name.ts';

test('a name is in a mail as it is', () => {
  for (const name of ['Ana Uwase', 'Coop. <b>x</b> "ü\' & Sons Ltd.', 'Café d’Ô 小麦', 'A/B: C'])
    expect(plainName(name, 80)).toBe(name);
});

test('a name is one line, has an end, and is neither a link nor an address', () => {
  expect(plainName('Ana\r\nBcc: x@y.z\u2028\u202egnp.exe', 80)).toBe('Ana Bcc: x[at]y[.]z gnp[.]exe');
  expect(plainName('https://evil.example/a', 80)).toBe('https evil[.]example/a');
  expect(plainName('<evil。example>', 80)).toBe('<evil[.]example>');
  expect(plainName('x'.repeat(9), 4)).toBe('xxxx...');
});
