import { Failure } from './failure.ts';
import { answered, enveloped, packet, trace } from './services.ts';
import { session, setUser } from './session.svelte.ts';

const path = () => ({ user_id: String(session.user?.id) });
/** The form of addresses in the directory. */
const ownAddress = () => session.user?.email.toLowerCase() ?? '';

/** The user's entry in the directory of the packet service; undefined without one. @throws Failure */
async function findEntry() {
  try {
    return await answered(packet.GET('/directory/users/{user_id}', { params: { path: path() } }));
  } catch (failure) {
    if (failure instanceof Failure && failure.status === 404) return undefined;
    throw failure;
  }
}

/**
 * Takes the address of the account out of the directory of the packet service, in which accepted invitations put it.
 * Other contacts of the user stay as they are.
 *
 * @throws Failure
 */
export async function hideAddress(): Promise<void> {
  const entry = await findEntry();
  if (!entry?.contacts.includes(ownAddress())) return;
  const contacts = entry.contacts.filter(contact => contact !== ownAddress());
  const body = { contacts, discoverable: entry.discoverable };
  await answered(packet.PUT('/directory/users/{user_id}', { params: { path: path() }, body }));
}

/**
 * Marks the account as discoverable if an accepted invitation has put its address into the directory. An invitation to
 * another contact changes nothing.
 *
 * @throws Failure
 */
export async function markDiscoverable(): Promise<void> {
  if (!session.user || session.user.discoverable) return;
  const { discoverable, contacts = [], unconfirmed = [] } = (await findEntry()) ?? {};
  if (!discoverable || !contacts.includes(ownAddress()) || unconfirmed.includes(ownAddress())) return;
  setUser(await enveloped(trace.PUT('/api/user/profile', { body: { discoverable } })));
}
