import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN, type RunningTrace, runningTrace } from '../../../test/helpers/trace.ts';

let trace: RunningTrace;
beforeAll(async () => {
  trace = await runningTrace();
});
afterAll(() => trace.stop());

test('logging in gives the cookie with the attributes of the interface document', async () => {
  const answer = await trace.send('POST', '/api/user/login', ADMIN);
  expect(answer.status).toBe(200);
  expect(answer.body.data).toMatchObject({ email: ADMIN.username, role: 'SYSTEM_ADMIN', status: 'ACTIVE' });
  const [access] = answer.headers.getSetCookie();
  expect(access).toMatch(
    /^trace-accessToken=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Max-Age=3600; Expires=\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT; HttpOnly$/,
  );
  const user = await trace.loggedIn();
  expect((await user.send('GET', '/api/user/profile')).body.data.id).toBe(user.id);
});
