import { hash } from 'node:crypto';
import { Type } from 'typebox';
import type { Server } from '../../../platform/http/server.ts';
import { failureAnswers } from '../../contract/envelope.ts';

/**
 * The pages that mailed links open. Opening one changes nothing, because mail scanners open every link: it shows a
 * button, or a form, whose script makes the call.
 */
export function registerLandingPages(app: Server): void {
  page(app, '/api/user/confirm_email', 'Confirm your e-mail address', '<button>Confirm</button>');
  page(
    app,
    '/api/user/email_change/confirm',
    'Confirm the change of your e-mail address',
    '<button>Confirm</button>',
  );
  page(
    app,
    '/api/user/reset_password',
    'Set a new password',
    '<label>New password <input type="password" name="password" required minlength="8" maxlength="128" ' +
      'autocomplete="new-password"></label><button>Set it</button>',
  );
}

/** Sends what the form holds, with the token from the address, to the address without it. */
const SCRIPT = `
const form = document.querySelector('form');
const says = document.querySelector('output');
form.addEventListener('submit', async event => {
  event.preventDefault();
  const parts = location.pathname.split('/');
  const body = { ...Object.fromEntries(new FormData(form)), token: parts.pop() };
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

const POLICY =
  `default-src 'none'; connect-src 'self'; script-src 'sha256-${hash('sha256', SCRIPT, 'base64')}'; ` +
  "style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

function page(app: Server, path: string, title: string, form: string): void {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}
button,input{font:inherit;padding:.5rem 1rem;margin:.5rem 0;box-sizing:border-box}
input{display:block;width:100%}
</style>
<h1>${title}</h1>
<form>${form}</form>
<p><output></output>
<script>${SCRIPT}</script>
</html>
`;
  app.get(
    `${path}/:token`,
    {
      config: { access: 'open' },
      schema: {
        tags: ['User'],
        summary: `${title}: the page behind a mailed link`,
        description: 'The same for every token; opening it changes nothing.',
        params: Type.Object({
          token: Type.String({ minLength: 1, maxLength: 100, description: 'from the link' }),
        }),
        response: {
          200: { description: 'a page', content: { 'text/html': { schema: Type.String() } } },
          ...failureAnswers(),
        },
      },
    },
    async (_request, reply) =>
      reply
        .headers({
          'cache-control': 'no-store',
          'content-security-policy': POLICY,
          'referrer-policy': 'no-referrer',
        })
        .type('text/html; charset=utf-8')
        .serializer(asIs)
        .send(html),
  );
}

const asIs = (text: unknown) => text as string;
