import { matchPath } from '../address/match-path.ts';

const PATHS = {
  confirm: '/confirm-email/:token',
  newPassword: '/reset-password/:token',
  change: '/email-change/:token',
  company: '/company-invitation/:token',
} as const;

/** A link in an email about an account: it works with and without a login. */
export interface MailedLink {
  kind: keyof typeof PATHS;
  token: string;
}

/** The mailed link that a path stands for, if any. */
export function mailedLink(path: string): MailedLink | undefined {
  for (const kind of Object.keys(PATHS) as MailedLink['kind'][]) {
    const token = matchPath(PATHS[kind], path)?.token;
    if (token !== undefined) return { kind, token };
  }
  return undefined;
}
