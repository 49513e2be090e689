import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Settings } from './platform/settings/settings.ts';
import { namesRegistry } from './platform/tokens/user-registry.ts';
import { FIRST_ADMIN_FILE } from './trace-backend/identity/administration/first-admin.ts';

const OBSERVATION =
  '{"observed_at":"2026-03-01T08:15:00Z","capture_point":{"lat":40.7128,"lon":-74.006},"message":"Leaf rust"}';

/** Where the services of this process listen, as URLs. */
export interface Listening {
  packet: string | undefined;
  trace: string | undefined;
  console: string | undefined;
}

/** The greeting of a start: the addresses of the services, and a first request that works with the settings. */
export function greeting(settings: Settings, { packet, trace, console }: Listening): string {
  const lines: string[] = [];
  if (console) lines.push('', `fieldtrace console         ${console}`);
  if (packet)
    lines.push('', `fieldtrace packet service  ${packet}`, `its documentation          ${packet}/docs`);
  if (trace) lines.push('', `fieldtrace trace backend   ${trace}`, `its documentation          ${trace}/`);
  if (packet) lines.push('', ...firstRequest(settings, packet, trace), '');
  return lines.join('\n');
}

function firstRequest(settings: Settings, packet: string, trace: string | undefined): string[] {
  const needsToken = settings.AUTH_MODE === 'required';
  const send = [
    `  curl ${packet}/intake/scouting -H 'content-type: application/json' \\`,
    ...(needsToken ? ['    -H "authorization: Bearer $token" \\'] : []),
    `    -d '${OBSERVATION}'`,
  ];
  if (!needsToken) return ['Send a first observation:', '', ...send];
  if (trace === undefined || namesRegistry(settings)) {
    return ['Send a first observation, with an access token of your user registry in $token:', '', ...send];
  }
  return ['Log in and send a first observation:', '', ...logIn(settings, trace), '', ...send];
}

/** Shell commands that log the first administrator in, and put the access token into $token. */
function logIn({ TRACE_ADMIN_EMAIL, DATA_DIR }: Settings, trace: string): string[] {
  const file = path.resolve(DATA_DIR, FIRST_ADMIN_FILE);
  const quoted = quote(file);
  const credentials =
    TRACE_ADMIN_EMAIL === undefined && existsSync(file)
      ? [`  email=$(sed -n 1p ${quoted}) password=$(sed -n 2p ${quoted})`]
      : [
          TRACE_ADMIN_EMAIL === undefined
            ? "  printf 'Email address: '; read -r email"
            : `  email=${quote(TRACE_ADMIN_EMAIL)}`,
          "  printf 'Password: '; read -r password",
        ];
  return [
    ...credentials,
    `  token=$(curl -s -i ${trace}/api/user/login -H 'content-type: application/json' \\`,
    `    -d '{"username": "'"$email"'", "password": "'"$password"'"}' |`,
    "    sed -n 's/^set-cookie: trace-accessToken=\\([^;]*\\).*/\\1/ip')",
  ];
}

/** A text as one word of a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
