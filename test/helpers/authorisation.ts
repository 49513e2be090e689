import type { LoggedIn } from './trace.ts';

/** The records that exist before a request: a company, and those that its COMPANY_ADMIN created. */
export interface World {
  owner: LoggedIn;
  companyId: number;
}

/** One route: a good request to it, and the status that each kind of caller gets. */
export interface Row {
  path?: (world: World) => string | Promise<string>;
  body?: (world: World) => unknown;
  /** takes a form instead of JSON */
  form?: () => FormData;
  /** the COMPANY_ADMIN of the company; also the user whom the request is about */
  administrator: number;
  /** a COMPANY_USER of the company */
  member: number;
  /** a user who is invited to the company and has not answered */
  pending: number;
  /** a COMPANY_ADMIN of another company */
  stranger: number;
  regionalAdmin: number;
  systemAdmin: number;
  /** answered to anyone, also without a good cookie, with this status */
  open?: number;
  /** answers one caller at a time, and the others with 503 */
  inTurn?: true;
}

export const KINDS = [
  'administrator',
  'member',
  'pending',
  'stranger',
  'regionalAdmin',
  'systemAdmin',
] as const;
export type Kind = (typeof KINDS)[number];
export const everyone = (status: number) =>
  Object.fromEntries(KINDS.map(kind => [kind, status])) as Record<Kind, number>;
export const open = (status: number) => ({ ...everyone(status), open: status });
export const administrators = (status = 200) => ({
  ...everyone(403),
  regionalAdmin: status,
  systemAdmin: status,
});
export const systemAdmin = (status = 200) => ({ ...everyone(403), systemAdmin: status });
/** For the user whom the request is about, and whom nobody else gets to see. */
export const oneself = { ...everyone(404), administrator: 200 };

/** The routes about the process, for administrators. */
export const operationRows: Record<string, Row> = Object.fromEntries(
  [
    'audit/list',
    'audit/actions',
    ...['settings', 'jobs', 'metrics', 'backups', 'failed-mails'].map(name => `administration/${name}`),
  ].map(path => [`GET /api/${path}`, systemAdmin()]),
);

/** A form with one file. */
export function form(): FormData {
  const made = new FormData();
  made.set('file', new Blob(['a text']), 'text.txt');
  return made;
}
