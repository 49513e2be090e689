import { expect, test } from 'vitest';
import { Failure, failureOf } from '../../api/failure.ts';
import { fieldErrors } from './field-errors.ts';

const names = new Set(['name', 'capture_point']);

/** An answer with this status and header of reasons. */
const answer = (status: number, reasons?: string, retryAfter?: string) => ({
  status,
  headers: new Headers({
    ...(reasons !== undefined && { 'fieldtrace-reason': reasons }),
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  }),
});

test('errors of both services go to the fields that they name, and the others to the form', () => {
  const envelope = {
    errorMessage: 'name is wrong',
    validationErrorDetails: {
      fieldErrors: { name: 'name is too long', other: 'other is wrong' },
      fieldReasons: { name: { reason: 'validation.too_long', parameters: { field: 'name', max: 9 } } },
    },
  };
  expect(fieldErrors(failureOf(envelope, answer(400)), names)).toEqual({
    fields: {
      name: {
        reason: 'validation.too_long',
        parameters: { field: 'name', max: 9 },
        sentence: 'name is too long',
      },
    },
    rest: [{ parameters: {}, sentence: 'other is wrong' }],
  });
  const sentence = 'capture_point must be an object';
  const reasons = 'validation.type;field="capture_point";type=%"objet %c3%a9"';
  const expected = {
    reason: 'validation.type',
    parameters: { field: 'capture_point', type: 'objet é' },
    sentence,
  };
  expect(fieldErrors(failureOf({ error: sentence }, answer(400, reasons)), names)).toEqual({
    fields: { capture_point: expected },
    rest: [],
  });
  expect(fieldErrors(new Failure('nothing of that', 400), names)).toEqual({ fields: {}, rest: [] });
  expect(fieldErrors(new TypeError('x'), names)).toEqual({ fields: {}, rest: [] });
});

test('a field shows the first error of its path, of a part of it or of the path above it', () => {
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

test('a failure has its sentence, reason, fields and time to wait from either error body', () => {
  expect(failureOf({ error: 'too many' }, answer(429, 'limit.requests;seconds=30', '30'))).toMatchObject({
    message: 'too many',
    fault: { reason: 'limit.requests', parameters: { seconds: 30 }, sentence: 'too many' },
    fields: {},
    status: 429,
    retryAfter: 30,
  });
  for (const reasons of [undefined, 'not a list;;', '"text"'])
    expect(failureOf('<html>', answer(502, reasons))).toMatchObject({
      message: 'HTTP 502',
      fields: {},
      retryAfter: undefined,
    });
});
