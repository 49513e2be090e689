import { pageOf, sendHtml, UNLISTED } from '../../../../platform/http/page.ts';
import type { Server } from '../../../../platform/http/server.ts';
import { landingSchema } from './schemas.ts';

/** The page of a mailed link. */
export interface Landing {
  /** ends in /:token */
  path: `${string}/:token`;
  operationId: string;
  tag: string;
  title: string;
  sentence: string;
  /** the label of the button */
  button: string;
  /** what is added to the path for the request of the button */
  action: '' | '/accept';
  /** whether the page asks for the user's identity */
  asksForUser: boolean;
  /** a description of the request that an app sends for the link */
  request: string;
}

/** Sends the form's fields to the URL of the page, followed by the action, and shows what came of it. */
const SCRIPT = `
const form = document.querySelector('form');
const says = document.querySelector('output');
form.addEventListener('submit', async event => {
  event.preventDefault();
  says.textContent = '…';
  try {
    const answer = await fetch(location.pathname.replace(/\\/$/, '') + form.dataset.action, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(new FormData(form))),
    });
    const { error, message } = await answer.json();
    const inApp = answer.status === 401 || answer.status === 403;
    says.textContent = answer.ok
      ? (message ?? 'Done.') + ' You can close this page.'
      : inApp ? 'This needs your login: open the link in your field app, or enter the code there.' : error;
    form.hidden = answer.ok;
  } catch {
    says.textContent = 'The server cannot be reached; try again.';
  }
});
`;

/**
 * The page that a mailed link opens in a browser if no app handles it. It is the same for every token, and opening it
 * changes nothing, because mail scanners open every link: its button sends the request.
 */
export function registerLandingPage(app: Server, landing: Landing): void {
  const { title, sentence, button, action, asksForUser, request } = landing;
  const field = asksForUser
    ? '<label>Your user name <input name="user_id" required maxlength="256" autocomplete="username"></label>'
    : '';
  const sections = `<section><p>${sentence}</p>
<form data-action="${action}">${field}<button>${button}</button></form><output></output></section>
<section><h2>With an app</h2><p>Open this link in your field app. Programs send ${request}</p></section>`;
  const page = pageOf({ title, sections, head: UNLISTED, script: SCRIPT });
  app.get(
    landing.path,
    {
      config: { open: true },
      schema: landingSchema(landing),
    },
    async (_request, reply) => sendHtml(reply.header('cache-control', 'no-store'), page),
  );
}
