import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { dayDue, localTime, secondsToMidnight } from './calendar.ts';
import { convertAmount } from './convert.ts';

/** Decimal texts with limited digits before and after the point. */
const decimals = (before: number, after: number) =>
  fc
    .tuple(
      fc.bigInt({ min: 0n, max: 10n ** BigInt(before) - 1n }),
      fc.stringMatching(new RegExp(`^[0-9]{1,${after}}$`)),
    )
    .map(([whole, part]) => `${whole}.${part}`);
const amounts = decimals(20, 10);
const rates = decimals(8, 10).filter(text => Number(text) > 0);

/** A decimal text as a fraction. */
function fraction(text: string): [bigint, bigint] {
  const [whole = '0', part = ''] = text.replace('-', '').split('.');
  const value = BigInt(whole + part);
  return [text.startsWith('-') ? -value : value, 10n ** BigInt(part.length)];
}

/** The conversion computed with integers: rounded once, half away from zero, to six decimals. */
function reckoned(amount: string, from: string, to: string): string {
  const [[a, ad], [f, fd], [t, td]] = [fraction(amount), fraction(from), fraction(to)];
  const top = a * t * fd * 10n ** 6n;
  const bottom = ad * td * f;
  const magnitude = top < 0n ? -top : top;
  const rounded = (2n * magnitude + bottom) / (2n * bottom);
  const digits = rounded.toString().padStart(7, '0');
  const text = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
  return top < 0n && rounded !== 0n ? `-${text}` : text;
}

test('every conversion is the exact quotient, rounded once', () => {
  fc.assert(
    fc.property(amounts, rates, rates, fc.boolean(), (amount, from, to, negative) => {
      const signed = negative ? `-${amount}` : amount;
      expect(convertAmount(signed, from, to).replace(/^-0$/, '0')).toBe(reckoned(signed, from, to));
    }),
    { numRuns: runs(2000) },
  );
  expect(convertAmount('1', '8000000', '1')).toBe('0');
  expect(convertAmount('1', '2000000', '1')).toBe('0.000001');
  expect(convertAmount('100', '1.0825', '1571.823456')).toBe('145203.090624');
});

test('equal rates leave an amount unchanged, to six decimals', () => {
  fc.assert(
    fc.property(decimals(20, 6), rates, (amount, rate) => {
      expect(Number(convertAmount(amount, rate, rate))).toBe(Number(amount));
      expect(convertAmount(amount, rate, rate)).toBe(reckoned(amount, '1', '1'));
    }),
    { numRuns: runs(100) },
  );
});

test('a conversion there and back returns the amount, except for rounding', () => {
  fc.assert(
    fc.property(decimals(6, 6), decimals(3, 6), decimals(3, 6), (amount, a, b) => {
      fc.pre(Number(a) > 0.01 && Number(b) > 0.01);
      const there = convertAmount(amount, a, b);
      const back = convertAmount(there, b, a);
      // Half a rounding step there, in the amount's currency, plus half a step back.
      const most = 0.5e-6 * (Number(a) / Number(b)) + 0.5e-6;
      expect(Math.abs(Number(back) - Number(amount))).toBeLessThanOrEqual(
        most * 1.000001 + Number(amount) * 1e-15,
      );
    }),
    { numRuns: runs(100) },
  );
});

test('the day of retrieval begins at 00:01 local time, in every zone and on days of clock changes', () => {
  const due = (time: string, zone: string) => dayDue(new Date(time), zone);
  expect(due('2026-11-21T00:00:59Z', 'UTC')).toBeUndefined();
  expect(due('2026-11-21T00:01:00Z', 'UTC')).toBe('2026-11-21');
  expect(due('2026-11-20T22:00:30Z', 'Africa/Kigali')).toBeUndefined();
  expect(due('2026-11-20T22:01:00Z', 'Africa/Kigali')).toBe('2026-11-21');
  expect(due('2026-11-20T18:31:00Z', 'Asia/Kolkata')).toBe('2026-11-21');
  // Cairo's clocks go from 23:59 to 01:00: the day begins with the hour, and is due at once.
  expect(due('2026-04-23T21:59:59Z', 'Africa/Cairo')).toBe('2026-04-23');
  expect(due('2026-04-23T22:00:00Z', 'Africa/Cairo')).toBe('2026-04-24');
  // Havana's clocks go from 00:59 back to 00:00: it is the same day both times.
  expect(due('2026-11-01T04:01:00Z', 'America/Havana')).toBe('2026-11-01');
  expect(due('2026-11-01T05:01:00Z', 'America/Havana')).toBe('2026-11-01');
  expect(localTime(new Date('2026-10-25T00:30:00Z'), 'Europe/Berlin')).toEqual({
    day: '2026-10-25',
    minute: 150,
  });
  expect(secondsToMidnight(new Date('2026-11-21T23:59:30Z'), 'UTC')).toBe(30);
});

test('in any zone each day of a year becomes due once, on its date', () => {
  for (const zone of [
    'America/St_Johns',
    'Pacific/Apia',
    'Africa/Cairo',
    'America/Havana',
    'Europe/Berlin',
  ]) {
    const days: string[] = [];
    for (let time = Date.UTC(2026, 0, 1); time < Date.UTC(2027, 0, 1); time += 10 * 60_000) {
      const day = dayDue(new Date(time), zone);
      if (day !== undefined && day !== days.at(-1)) days.push(day);
    }
    expect(days, zone).toEqual([...new Set(days)].sort());
    expect(days.length, zone).toBeGreaterThanOrEqual(365);
  }
});
