import { expect, test } from 'vitest';
import { documentText, htmlOf, linked, mailAddressOf, webAddressOf } from './texts.ts';

test('an entered web address becomes an http or https URL, or none', () => {
  expect(webAddressOf('kopanyi.example')).toBe('https://kopanyi.example/');
  expect(webAddressOf(' http://kopanyi.example/a?b=1 ')).toBe('http://kopanyi.example/a?b=1');
  expect(webAddressOf('HTTPS://Kopanyi.example')).toBe('https://kopanyi.example/');
  expect(webAddressOf('kopanyi.example:8080/x')).toBe('https://kopanyi.example:8080/x');
  for (const typed of [
    ...['', 'none', 'n/a', 'javascript:alert(1)', 'data:text/html,x', 'ftp://kopanyi.example', '//', '...'],
    ...['see kopanyi.example', 'joy@kopanyi.example', 'https://kopanyi.example@evil.example', 'mailto:a@b.c'],
  ])
    expect(webAddressOf(typed), typed).toBeUndefined();
});

test('only a valid email address becomes a link', () => {
  expect(mailAddressOf('joy.u+tea@kopanyi.example')).toBe('mailto:joy.u%2Btea@kopanyi.example');
  for (const typed of ['joy', 'joy@host', 'a@b.c?bcc=x@y.z', 'a b@c.de', 'a@b.c, d@e.f', '"><b>@c.de'])
    expect(mailAddressOf(typed), typed).toBeUndefined();
});

test('links are escaped; those to other hosts have nofollow and noopener', () => {
  expect(htmlOf(linked('company.webPage', 'https://a.example/?b&c'))).toBe(
    '<a href="https://a.example/?b&#38;c" rel="nofollow noopener">https://a.example/?b&#38;c</a>',
  );
  expect(htmlOf(linked('company.webPage', '<b>'))).toBe('&#60;b&#62;');
  expect(htmlOf(linked('description', 'kopanyi.example'))).toBe('kopanyi.example');
  expect(htmlOf({ text: '1, 2', address: 'geo:1,2' })).toBe('<a href="geo:1,2">1, 2</a>');
});

test('a document links to its file, otherwise to its link, if that is a web page', () => {
  const file = { name: 'washing.pdf', storageKey: 'a/b' };
  expect(documentText('../', { id: 1, document: file })).toEqual([
    { text: 'washing.pdf', address: '../../../document/a%2Fb' },
  ]);
  const film = { id: 2, name: 'Film', link: 'video.example/1' };
  expect(documentText('', film)).toEqual([{ text: 'Film', address: 'https://video.example/1' }]);
  expect(documentText('', { ...film, link: 'javascript:alert(1)' })).toEqual(['Film']);
  expect(documentText('', { id: 3 })).toEqual([]);
});
