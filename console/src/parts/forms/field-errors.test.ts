import { expect, test } from 'vitest';
import { Failure, failureOf } from '../../api/failure.ts';
import { fieldErrors } from './field-errors.ts';

const names = new Set(['name', 'capture_point']);

test('errors go to the fields that they name, of both services, and the others stay beside the form', () => {
  const envelope = {
    errorMessage: 'name is wrong',
    validationErrorDetails: { fieldErrors: { name: 'name is too long', other: 'other is wrong' } },
  };
  expect(fieldErrors(failureOf(envelope, 400), names)).toEqual({
    fields: { name: 'name is too long' },
    rest: ['other is wrong'],
  });
  const sentence = 'capture_point must be an object';
  expect(fieldErrors(failureOf({ error: sentence }, 400), names)).toEqual({
    fields: { capture_point: sentence },
    rest: [],
  });
  expect(fieldErrors(new Failure('nothing of that', 400), names)).toEqual({ fields: {}, rest: [] });
  expect(fieldErrors(new TypeError('x'), names)).toEqual({ fields: {}, rest: [] });
});

test('an error of what is around a field or inside it is shown at the field, the first one of several', () => {
  const fields = {
    'pins.0.at': 'pins.0.at is required',
    'pins.0': 'pins.0 must be object',
    'colour.red': 'x',
  };
  const failure = new Failure('invalid', 400, fields);
  expect(fieldErrors(failure, new Set(['pins.0.at.lat', 'colour']))).toEqual({
    fields: { 'pins.0.at.lat': 'pins.0.at is required', colour: 'x' },
    rest: [],
  });
});

test('a failure has its message, fields and time to wait from either error body', () => {
  expect(failureOf({ error: 'too many' }, 429, '30')).toMatchObject({
    message: 'too many',
    status: 429,
    retryAfter: 30,
  });
  expect(failureOf('<html>', 502)).toMatchObject({ message: 'HTTP 502', fields: {}, retryAfter: undefined });
});
