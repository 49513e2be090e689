import { Failure } from './failure.ts';
import { answered, enveloped, packet, trace } from './services.ts';
import { session, setUser } from './session.svelte.ts';

/** Lets nobody find the user by the directory of the packet service any more. @throws Failure */
export async function hide(): Promise<void> {
  const path = { user_id: String(session.user?.id) };
  try {
    const { contacts } = await answered(packet.GET('/directory/users/{user_id}', { params: { path } }));
    const body = { contacts, discoverable: false };
    await answered(packet.PUT('/directory/users/{user_id}', { params: { path }, body }));
  } catch (failure) {
    if (!(failure instanceof Failure && failure.status === 404)) throw failure;
  }
}

/** Lets the account say what accepting an invitation has done: that others find the user. @throws Failure */
export async function tellFound(): Promise<void> {
  if (!session.user || session.user.discoverable) return;
  setUser(await enveloped(trace.PUT('/api/user/profile', { body: { discoverable: true } })));
}
