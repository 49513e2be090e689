import { enveloped, trace } from '../../api/services.ts';
import { session } from '../../session/session.svelte.ts';

/** A colleague: somebody of a company that the user is a member of. */
export interface Person {
  id: string;
  name: string;
  email: string;
}

const MAX = 1000;
let colleagues = $state.raw<Person[]>([]);
let loadedFor: number | undefined;

/** The colleagues that are known so far. */
export function people(): Person[] {
  return colleagues;
}

/** Loads the colleagues once for each user; without them ids are shown. */
export async function loadPeople(): Promise<void> {
  const user = session.user;
  if (!user || loadedFor === user.id) return;
  loadedFor = user.id;
  const query = { limit: MAX, requestType: 'FETCH' as const };
  const { items = [] } = await enveloped(trace.GET('/api/user/list', { params: { query } }));
  colleagues = items.map(({ id, name, surname, email }) => ({
    id: String(id),
    name: [name, surname].filter(Boolean).join(' '),
    email: email ?? '',
  }));
}

/** The name of a user of the packet service: the user's own or a colleague's, else the id. */
export function nameOf(id: string): string {
  const { user } = session;
  if (user && id === String(user.id)) return [user.name, user.surname].filter(Boolean).join(' ') || id;
  return colleagues.find(person => person.id === id)?.name || id;
}

/**
 * The id of a typed user: of a colleague by e-mail address or name, of anyone by the number that they see in their
 * account; undefined if it is neither.
 */
export function idOf(typed: string): string | undefined {
  const wanted = typed.trim().toLowerCase();
  const found = colleagues.find(
    ({ email, name }) => email.toLowerCase() === wanted || name.toLowerCase() === wanted,
  );
  return found?.id ?? /^\d+$/.exec(wanted)?.[0];
}
