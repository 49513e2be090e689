import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { filledPath, type Operation, operationsOf } from './helpers/definition.ts';
import { downloadFile, picture, uploadFile } from './helpers/images.ts';
import { type Answer, type RunningService, runningService, type Send } from './helpers/service.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from './helpers/trace.ts';

let packet: RunningService;
let trace: RunningTrace;
let admin: LoggedIn;
let services: { send: Send; operations: Operation[] }[];
beforeAll(async () => {
  packet = await runningService();
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  services = [
    { send: packet.send, operations: await operationsOf(packet.send, '/openapi.json') },
    { send: admin.send, operations: await operationsOf(admin.send, '/v3/api-docs') },
  ];
});
afterAll(async () => {
  await packet.stop();
  await trace.stop();
});

const ajv = new Ajv({ strict: false, validateFormats: false });
const tus = { 'tus-resumable': '1.0.0', 'upload-offset': '0' };

/** Checks that a refusal is in the definition of its operation, with the body that it has. */
function expectStated({ method, path, responses }: Operation, { status, text, body }: Answer): void {
  const name = `${method} ${path}: ${status} ${text.slice(0, 200)}`;
  const schema = responses[status]?.['application/json'];
  expect(schema, name).toBeDefined();
  const validate = ajv.compile(schema);
  expect([name, validate(body), validate.errors]).toEqual([name, true, null]);
}

test('every operation with a body documents 415 for other media types, and returns it', async () => {
  for (const { send, operations } of services) {
    const taking = operations.filter(({ body }) => Object.keys(body).length > 0);
    expect(taking.length).toBeGreaterThan(15);
    for (const operation of taking) {
      const headers = { ...tus, 'content-type': 'text/x-unheard-of' };
      const answer = await send(operation.method, filledPath(operation, 'x'), 'x', headers);
      expect(answer.status, `${operation.method} ${operation.path} ${answer.text}`).toBe(415);
      expectStated(operation, answer);
    }
  }
});

test('every operation with parameters documents 400 for wrong ones, and returns it', async () => {
  for (const { send, operations } of services) {
    for (const operation of operations) {
      const { method, path, parameters, responses } = operation;
      if (parameters.length === 0) continue;
      expect(Object.keys(responses), `${method} ${path}`).toContain('400');
      if (method === 'HEAD' || !parameters.some(({ in: location }) => location === 'path')) continue;
      const answer = await send(method, filledPath(operation, 'a\0b'), undefined, tus);
      expect(answer.status, `${method} ${path} ${answer.text}`).toBe(400);
      expectStated(operation, answer);
    }
  }
});

/** The media types of an operation's answers of 200, in both services. */
function statedTypes(method: string, path: string): string[] {
  const operation = services
    .flatMap(({ operations }) => operations)
    .find(operation => operation.method === method && operation.path === path);
  return Object.keys(operation?.responses['200'] ?? {});
}

test('files are downloaded as one of the media types in the definition, by GET and by HEAD', async () => {
  const png = await picture(9, 9).png().toBuffer();
  const files = {
    'image/png': png,
    'application/pdf': Buffer.from('%PDF-1.4'),
    'application/octet-stream': 'text',
  };
  for (const [type, bytes] of Object.entries(files)) {
    const form = new FormData();
    form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'file');
    const response = await fetch(`${packet.url}/attachments`, { method: 'POST', body: form });
    const { attachment_id } = (await response.json()) as { attachment_id: string };
    const { data } = (await uploadFile(trace, admin, 'document', bytes)).body;
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await packet.send(method, `/attachments/${attachment_id}`);
      expect(headers.get('content-type')).toBe(type);
      expect(statedTypes(method, '/attachments/{id}')).toContain(type);
      const document = await downloadFile(trace, admin, `document/${data.storageKey}`, {}, method);
      expect(document.headers.get('content-type')).toBe(type);
      expect(statedTypes(method, '/api/common/document/{storageKey}')).toContain(type);
    }
  }
});

test('no answer is documented with a wildcard media type', () => {
  for (const { method, path, responses } of services.flatMap(({ operations }) => operations)) {
    for (const types of Object.values(responses)) {
      const names = Object.keys(types);
      const isVague = names.some(name => name.endsWith('/*')) && names.every(name => name.endsWith('/*'));
      expect([method, path, isVague]).toEqual([method, path, false]);
    }
  }
});
