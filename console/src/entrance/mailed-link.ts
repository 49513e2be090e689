import { matchPath } from '../address/match-path.ts';

const PATHS = {
  confirm: '/confirm-email/:token',
  newPassword: '/reset-password/:token',
  change: '/email-change/:token',
  company: '/company-invitation/:token',
} as const;

/** A link of a mail about an account: it works with and without a login. */
export interface MailedLink {
  kind: keyof typeof PATHS;
  token: string;
}

/** The link of a mail that a path is, if it is one. */
export function mailedLink(path: string): MailedLink | undefined {
  for (const kind of Object.keys(PATHS) as MailedLink['kind'][]) {
    const token = matchPath(PATHS[kind], path)?.token;
    if (token !== undefined) return { kind, token };
  }
  return undefined;
}
