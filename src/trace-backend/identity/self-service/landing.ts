import { pageOf, sendHtml, UNLISTED } from '../../../platform/http/page.ts';
import type { Server } from '../../../platform/http/server.ts';
import { landingPageSchema } from './schemas.ts';

/** People who do not know the password of an account with their address set a new one instead. */
const PASSWORD =
  '<label>Password of the account <input type="password" name="password" required maxlength="1024" ' +
  'autocomplete="current-password"></label>';

/**
 * The pages that mailed links open. Opening one changes nothing, because mail scanners open every link: it shows a
 * button, or a form, whose script makes the call.
 */
export function registerLandingPages(app: Server): void {
  landingPage(app, '/api/user/confirm_email', {
    operationId: 'showEmailConfirmation',
    title: 'Confirm your email address',
    tag: 'User',
    form: `${PASSWORD}<button>Confirm</button>`,
  });
  landingPage(app, '/api/user/email_change/confirm', {
    operationId: 'showEmailChangeConfirmation',
    title: 'Confirm the change of your email address',
    tag: 'User',
    form: `${PASSWORD}<button>Confirm</button>`,
  });
  landingPage(app, '/api/user/reset_password', {
    operationId: 'showPasswordReset',
    title: 'Set a new password',
    tag: 'User',
    form:
      '<label>New password <input type="password" name="password" required minlength="8" maxlength="128" ' +
      'autocomplete="new-password"></label><button>Set password</button>',
  });
}

/** Sends the form's fields, with the token from the URL, to the URL without it. */
const SCRIPT = `
const form = document.querySelector('form');
const says = document.querySelector('output');
form.addEventListener('submit', async event => {
  event.preventDefault();
  const parts = location.pathname.split('/');
  const body = { ...Object.fromEntries(new FormData(form)), token: parts.pop() };
  const button = event.submitter;
  if (button?.name) body[button.name] = button.value;
  says.textContent = '…';
  try {
    const answer = await fetch(parts.join('/'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { status, errorMessage } = await answer.json();
    says.textContent = status === 'OK' ? 'Done. You can close this page.' : errorMessage;
    form.hidden = status === 'OK';
  } catch {
    says.textContent = 'The server cannot be reached; try again.';
  }
});
`;

/** A page at `path/:token`, whose form is sent to `path`: its fields, and the pressed button if it has a name. */
export function landingPage(
  app: Server,
  path: string,
  { operationId, title, tag, form }: { operationId: string; title: string; tag: string; form: string },
): void {
  const sections = `<section><form>${form}</form><output></output></section>`;
  const page = pageOf({ title, sections, head: UNLISTED, script: SCRIPT });
  app.get(
    `${path}/:token`,
    { config: { access: 'open' }, schema: landingPageSchema({ operationId, title, tag }) },
    async (_request, reply) => sendHtml(reply.header('cache-control', 'no-store'), page),
  );
}
