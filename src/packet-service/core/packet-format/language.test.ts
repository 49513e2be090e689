import { expect, test } from 'vitest';
import { isLanguageTag, packetLanguage } from './language.ts';

test('every form of tag in RFC 5646 is one: private use, grandfathered, extended, with variants and extensions', () => {
  for (const tag of [
    'de',
    'fra',
    'zh-Hant',
    'zh-cmn-Hans-CN',
    'sr-Latn-RS',
    'sl-rozaj-biske',
    'de-CH-1901',
    'es-419',
    'RW',
    'x-whatever',
    'x-a-b-c',
    'qaa-Qaaa-QM-x-southern',
    'de-Qaaa',
    'en-a-myext-b-another',
    'en-US-u-islamcal',
    'i-klingon',
    'I-DEFAULT',
    'en-GB-oed',
    'sgn-BE-FR',
    'art-lojban',
    'zh-min-nan',
    'zh-yue',
    'und',
  ]) {
    expect(isLanguageTag(tag), tag).toBe(true);
    expect(packetLanguage(tag, undefined)).toBe(tag);
  }
});

test('tags that RFC 5646 does not allow are refused', () => {
  for (const tag of [
    '',
    'd',
    'de_DE',
    'de-',
    '-de',
    'de--CH',
    'english language',
    'abcdefghi',
    'x',
    'x-',
    'i-',
    'i-nothing',
    'de-419-DE',
    'a-DE',
    'ar-a-aaa-b-bbb-a-ccc',
    'de-1996-1996',
    'en-a',
    'en-x',
    'de-DE-\u0000',
    'dé',
    `x-${'abcdefgh-'.repeat(4)}a`,
  ]) {
    expect(isLanguageTag(tag), tag).toBe(false);
    expect(packetLanguage(tag, 'x-phone, en')).toBe('x-phone');
  }
});
