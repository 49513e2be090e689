import { expect, test } from 'vitest';
import { faultOf, packetError, traceError } from './check.ts';
import { readAnswer } from './wire.ts';

const operation = {
  method: 'GET',
  responses: {
    200: {
      'application/json': { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
      'application/x-ndjson': { type: 'object', required: ['subject'] },
    },
    204: {},
  },
};
const judge = (status: number, body: string, type = 'application/json', isError = packetError) =>
  faultOf(operation, { status, type, headers: new Map(), body: Buffer.from(body) }, isError);

test('correct answers have no fault', () => {
  expect(judge(200, '{"id":"a"}')).toBeUndefined();
  expect(judge(200, '{"subject":1}\n{"subject":2}\n', 'application/x-ndjson')).toBeUndefined();
  expect(judge(204, '', '')).toBeUndefined();
  expect(judge(404, '{"error":"there is nothing"}')).toBeUndefined();
  const envelope = '{"status":"NOT_FOUND","errorMessage":"there is nothing"}';
  expect(judge(404, envelope, 'application/json', traceError)).toBeUndefined();
});

test('every way in which an answer can be wrong is a fault', () => {
  expect(judge(500, '{"error":"x"}')).toMatch(/^a failure/);
  expect(judge(503, '{"error":"x"}')).toMatch(/^a failure/);
  expect(judge(400, '{"error":""}')).toMatch(/another shape/);
  expect(judge(400, '{"error":"x","more":1}')).toMatch(/another shape/);
  expect(judge(400, 'null')).toMatch(/no object/);
  expect(judge(400, '', '')).toMatch(/an error as/);
  expect(judge(404, '{"error":"x"}', 'application/json', traceError)).toMatch(/another shape/);
  expect(judge(200, '{"id":7}')).toMatch(/must be string/);
  expect(judge(200, '{"id"')).toMatch(/no JSON/);
  expect(judge(200, '{"subject":1}\n{"object":2}\n', 'application/x-ndjson')).toMatch(/subject/);
  expect(judge(200, '{"subject":1}\n{"sub', 'application/x-ndjson')).toMatch(/does not end/);
  expect(judge(200, 'a', 'text/csv')).toMatch(/media type/);
  expect(judge(204, 'a')).toMatch(/a body/);
  expect(judge(201, '{"id":"a"}')).toMatch(/status 201/);
  expect(judge(409, '{"error":"x"}')).toMatch(/status 409/);
});

test('an answer that is cut off or longer than announced is a fault', () => {
  const read = (text: string, method = 'GET') => readAnswer(Buffer.from(text), method);
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n';
  expect(read(`HTTP/1.1 100 Continue\r\n\r\n${head}content-length: 2\r\n\r\n{}`)).toMatchObject({
    status: 200,
    type: 'application/json',
    body: Buffer.from('{}'),
  });
  expect(String(read(`${head}transfer-encoding: chunked\r\n\r\n2\r\n{"\r\n3\r\na":\r\n0\r\n\r\n`).body)).toBe(
    '{"a":',
  );
  for (const bad of [
    '',
    'nonsense',
    `${head}content-length: 3\r\n\r\n{}`,
    `${head}content-length: 1\r\n\r\n{}`,
    `${head}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`,
    'HTTP/1.1 204 No Content\r\n\r\n{}',
  ]) {
    expect(() => read(bad), bad).toThrow();
  }
  expect(() => read(`${head}content-length: 2\r\n\r\n{}`, 'HEAD')).toThrow();
});
