import { reach } from './connection.svelte.ts';
import { keepPosition, sendPosition } from './position.ts';
import { regainSession, renewSession } from './session.svelte.ts';

/**
 * fetch for everything behind the login. If the session has ended, it is renewed, or the user logs in again in a dialog
 * above the screen, and the request is repeated: what was typed stays where it is.
 */
export async function sessionFetch(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await ask(request);
  if (response.status !== 401 || (await namesField(response))) return response;
  return (await regainSession()) ? ask(again) : response;
}

/** Whether a refusal is about a field of the form, such as a wrong code: then it is no matter of the session. */
async function namesField(response: Response): Promise<boolean> {
  const body = (await response
    .clone()
    .json()
    .catch(() => undefined)) as { validationErrorDetails?: object } | undefined;
  return body?.validationErrorDetails !== undefined;
}

/** fetch for background requests such as news: it renews the session if it can, and never asks the user to log in. */
export async function quietFetch(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await ask(request);
  return response.status === 401 && (await renewSession()) ? ask(again) : response;
}

async function ask(request: Request): Promise<Response> {
  sendPosition(request);
  const response = await reach(request);
  keepPosition(request, response);
  return response;
}
