import { answered, enveloped, packet, trace } from '../../api/services.ts';
import { session } from '../../api/session.svelte.ts';

/** Packets among which one of the user's own is looked for. */
const NEWEST = 20;

/** First steps by occupation, with their pages. */
const LINKS = {
  field: { observation: '/observations/new', inbox: '/inbox', threads: '/threads' },
  office: { company: '/companies/new', product: '/products/new', label: '/products' },
  administration: {
    users: '/administration/users',
    backups: '/administration/backups',
    mail: '/administration/settings?query=SMTP_URL',
  },
} as const;
type Role = keyof typeof LINKS;

/** The links for those roles of the user in which nothing has begun yet. @throws Failure */
export async function beginnings(signal: AbortSignal): Promise<{ role: Role; links: [string, string][] }[]> {
  const roles = await Promise.all([
    hasObserved(signal).then(has => !has && ('field' as const)),
    hasCompany(signal).then(has => !has && ('office' as const)),
    session.isAdministrator && isAlone(signal).then(alone => alone && ('administration' as const)),
  ]);
  return roles.filter(role => role !== false).map(role => ({ role, links: Object.entries(LINKS[role]) }));
}

/** Whether the user sends observations, gets some, or writes. */
async function hasObserved(signal: AbortSignal): Promise<boolean> {
  const [own, shares, threads] = await Promise.all([
    answered(packet.GET('/packets', { params: { query: { authors: 'true', limit: NEWEST } }, signal })),
    answered(packet.GET('/shares/inbox', { params: { query: { limit: 1 } }, signal })),
    answered(packet.GET('/chat/threads', { params: { query: { limit: 1 } }, signal })),
  ]);
  const isOwn = 'packets' in own && own.authors?.includes(String(session.user?.id)) === true;
  const hasShare = typeof shares === 'object' && 'shares' in shares && shares.shares.length > 0;
  return isOwn || hasShare || threads.threads.length > 0;
}

async function hasCompany(signal: AbortSignal): Promise<boolean> {
  const query = { limit: 1, requestType: 'FETCH' as const };
  const { items = [] } = await enveloped(trace.GET('/api/company/list', { params: { query }, signal }));
  return items.length > 0;
}

/** Whether nobody else has an account. */
async function isAlone(signal: AbortSignal): Promise<boolean> {
  const query = { limit: 2, requestType: 'FETCH' as const };
  const { items = [] } = await enveloped(trace.GET('/api/user/admin/list', { params: { query }, signal }));
  return items.length < 2;
}
