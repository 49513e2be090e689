import { expect, test } from 'vitest';
import { deviceOf } from './device.ts';

const LIKE_GECKO = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test('a device is named by its browser and system, and a program not at all', () => {
  for (const [userAgent, browser, system] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox 128', 'Linux'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${LIKE_GECKO} Chrome/126.0.0.0 Safari/537.36`, 'Chrome 126', 'Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${LIKE_GECKO} Chrome/125.0 Safari/537.36 Edg/125.0`,
      'Edge 125',
      'Windows',
    ],
    [
      `Mozilla/5.0 (Linux; Android 14; SM-A14) ${LIKE_GECKO} SamsungBrowser/25.0 Chrome/121.0 Mobile Safari/537.36`,
      'Samsung Internet 25',
      'Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
      'Safari 17',
      'iOS',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4.1 Safari/605.1.15',
      'Safari 17',
      'macOS',
    ],
  ] as const)
    expect(deviceOf(userAgent)).toEqual({ browser, system });
  for (const program of ['curl/8.5.0', 'node', '']) expect(deviceOf(program)).toBeUndefined();
});
