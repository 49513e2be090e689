import { expect, test } from 'vitest';
import { runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, expectAccessible, logIn, realComplaints } from '../../helpers/console-page.ts';

const ALL = /^Everyone with an account here can already read this, and so can people without one/;
const USERS = /^Everyone with an account here can already read this\. /;
const THREAD = /people with whom it is shared can read this message\.$/;
const OPEN_THREAD = /If an app has opened the thread without an account/;

test.each([
  ['required', USERS, THREAD],
  ['optional', ALL, OPEN_THREAD],
  ['off', ALL, ALL],
])(
  'before something is shared, it is said who can read it already: AUTH_MODE=%s',
  async (mode, note, message) => {
    const pages = await runningConsole({ AUTH_MODE: mode });
    const browser = await consoleBrowser(pages);
    try {
      const { email, id } = await pages.newUser();
      const { send } = await pages.login(email);
      const made = async (path: string, body: object) => {
        const answer = await send('POST', `/packet${path}`, body);
        expect(answer.status, answer.text).toBe(201);
        return answer.body;
      };
      const place = { lat: 1, lon: 2 };
      const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: place, message: 'Rust' };
      const from_user = String(id);
      const { thread_id } = await made('/chat/threads', { name: 'Rust', created_by: from_user });
      const said = await made('/intake/chat-message', { thread_id, from_user, text: 'Hello' });
      const seen = await made('/intake/scouting', observation);

      const { page } = browser;
      await logIn(page, `${pages.url}/observations/new`, email);
      const future = mode === 'required' ? /will be able to read it\.$/ : /and so will people without one/;
      await page.getByText(future).waitFor();
      for (const [{ packet_uuid }, expected] of [[seen, note] as const, [said, message] as const]) {
        await page.goto(`${pages.url}/packets/${packet_uuid}`);
        await page.getByRole('button', { name: 'Share' }).click();
        await page.getByRole('dialog').getByText(expected).waitFor();
      }
      await expectAccessible(page);
      expect(realComplaints(browser)).toEqual([]);
    } finally {
      await browser.close();
      await pages.stop();
    }
  },
);
