import { afterAll, beforeAll, expect, test } from 'vitest';
import { bodyCheck } from '../src/platform/http/validation.ts';
import { readBody } from '../src/trace-backend/base/contract/reading.ts';
import { filledPath, type Operation, operationsOf } from './helpers/definition.ts';
import { DECLARED, differences, keyOf, LACKING, SENT } from './helpers/front-end.ts';
import { type RunningTrace, runningTrace } from './helpers/trace.ts';

let trace: RunningTrace;
let ours: Map<string, Operation>;
beforeAll(async () => {
  trace = await runningTrace();
  ours = new Map(
    (await operationsOf(trace.send, '/v3/api-docs')).map(operation => [keyOf(operation), operation]),
  );
});
afterAll(() => trace.stop());

test('what the public front end of INATrace declares is served as it declares it, but for the operations in lacking.json', () => {
  const lacking = new Set(LACKING);
  const broken: string[] = [];
  const done: string[] = [];
  const why: string[] = [];
  for (const declared of DECLARED) {
    const key = keyOf(declared);
    const found = differences(declared, ours.get(key));
    if (!lacking.has(key)) broken.push(...found.map(difference => `${key}: ${difference}`));
    else if (found.length === 0) done.push(key);
    else why.push(`${key}: ${found.join('; ')}`);
  }
  const compatible = DECLARED.length - why.length;
  console.info(`front end: ${compatible}/${DECLARED.length} operations compatible (compatible/declared)`);
  if (process.env.FRONT_END_DIFFERENCES) console.info(why.join('\n'));
  expect(broken).toEqual([]);
  expect(done, 'compatible: remove them from test/fixtures/front-end/lacking.json').toEqual([]);
});

test('what it was seen to send to compatible operations is valid', async () => {
  const admin = await trace.loggedIn('SYSTEM_ADMIN');
  const lacking = new Set(LACKING);
  for (const sent of SENT.filter(one => !lacking.has(keyOf(one)))) {
    const { method, queries = [], body } = sent;
    const operation = ours.get(keyOf(sent)) as Operation;
    for (const query of queries) {
      const { status, text } = await admin.send(method, filledPath(sent, '1') + query);
      expect(status, `${method} ${sent.path}${query} ${text}`).not.toBe(400);
    }
    if (body === undefined) continue;
    const schema = operation.body['application/json'];
    const check = () => bodyCheck(schema)(readBody(structuredClone(body), schema));
    // What a cut body lacks came after the cut.
    if (sent.cut) expect(problemOf(check), keyOf(sent)).toMatch(/^$| is required$/);
    else expect(check, keyOf(sent)).not.toThrow();
  }
});

/** The message of the error that something throws; empty if it throws none. */
function problemOf(action: () => unknown): string {
  try {
    action();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
