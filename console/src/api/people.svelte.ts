import { t } from '../messages/messages.svelte.ts';
import { answered, enveloped, quietPacket, trace } from './services.ts';
import { session } from './session.svelte.ts';

/** A colleague: somebody of a company that the user is a member of. */
export interface Person {
  id: string;
  name: string;
  email: string;
}

const MAX = 1000;
let colleagues = $state.raw<Person[]>([]);
let loadedFor: number | undefined;

/** The colleagues that are loaded so far. */
export function people(): Person[] {
  return colleagues;
}

/** Loads the colleagues once for each user; without them ids are shown. */
export async function loadPeople(): Promise<void> {
  const user = session.user;
  if (!user || loadedFor === user.id) return;
  loadedFor = user.id;
  try {
    await reloadPeople();
  } catch (failure) {
    loadedFor = undefined;
    throw failure;
  }
}

/** Loads the colleagues again: somebody may have joined a company of the user since. */
async function reloadPeople(): Promise<void> {
  const query = { limit: MAX, requestType: 'FETCH' as const };
  const { items = [] } = await enveloped(trace.GET('/api/user/list', { params: { query } }));
  colleagues = items.map(personOf);
}

interface Named {
  id: number;
  name?: string | undefined;
  surname?: string | undefined;
  email?: string | undefined;
}

const personOf = (item: Named): Person => ({
  id: String(item.id),
  name: fullName(item),
  email: item.email ?? '',
});

/** The names of other people in answers, by id: of those who shared something with the user, opened a thread or wrote in it. */
let met = $state.raw<Readonly<Record<string, string>>>({});

/** Keeps a name in an answer. */
export function meet(id: string | undefined, name: string | undefined): void {
  if (id !== undefined && name !== undefined && met[id] !== name) met = { ...met, [id]: name };
}

/**
 * The name of a user of the packet service: the user's own, a colleague's or that of somebody met, for administrators
 * everyone's, and for all others their number in words. Missing names are requested.
 */
export function nameOf(id: string): string {
  const { user } = session;
  if (user && id === String(user.id)) return fullName(user) || numbered(id);
  const name = colleagues.find(person => person.id === id)?.name || met[id];
  if (!name) askFor(id);
  return name || numbered(id);
}

const fullName = ({ name, surname }: { name?: string | undefined; surname?: string | undefined }) =>
  [name, surname].filter(Boolean).join(' ');

/** Programs may use names of their own, which are shown as they are. */
const numbered = (id: string) => (isNumber(id) ? t('common.user', { number: id }) : id);
const isNumber = (id: string) => /^[1-9]\d{0,9}$/.test(id);

/** Maximum ids per request. */
const MAX_IDS = 100;
const requested = new Set<string>();
let wanted: string[] = [];

/** Requests a name once, together with the others on the screen. */
function askFor(id: string): void {
  if (!isNumber(id) || requested.has(id)) return;
  requested.add(id);
  if (wanted.push(id) === 1) setTimeout(() => void loadWanted().catch(() => {}));
}

async function loadWanted(): Promise<void> {
  const ids = wanted;
  wanted = [];
  const find = session.isRegionalAdministrator ? namesForAdministrator : namesOfMet;
  for (let at = 0; at < ids.length; at += MAX_IDS) {
    try {
      const found = await find(ids.slice(at, at + MAX_IDS).join(','));
      met = { ...met, ...Object.fromEntries(found) };
    } catch (failure) {
      for (const id of ids.slice(at)) requested.delete(id);
      throw failure;
    }
  }
}

async function namesForAdministrator(ids: string): Promise<[string, string][]> {
  const query = { ids, limit: MAX_IDS, requestType: 'FETCH' as const };
  const { items = [] } = await enveloped(trace.GET('/api/user/admin/list', { params: { query } }));
  return items.map(item => [String(item.id), fullName(item)]);
}

async function namesOfMet(user_ids: string): Promise<[string, string][]> {
  const { users } = await answered(quietPacket.GET('/people/names', { params: { query: { user_ids } } }));
  return users.map(({ user_id, name }) => [user_id, name]);
}

/** Like `idOf`, but reloads the colleagues before it finds nobody. @throws Failure */
export async function findIdOf(typed: string): Promise<string | undefined> {
  const typedId = idOf(typed);
  if (typedId !== undefined) return typedId;
  await reloadPeople();
  return idOf(typed);
}

/**
 * The id of a typed user: of a colleague by email address or name, of anyone by the number that they see in their
 * account; undefined if it is neither.
 */
function idOf(typed: string): string | undefined {
  const wanted = typed.trim().toLowerCase();
  const found = colleagues.find(
    ({ email, name }) => email.toLowerCase() === wanted || name.toLowerCase() === wanted,
  );
  return found?.id ?? /^\d+$/.exec(wanted)?.[0];
}
