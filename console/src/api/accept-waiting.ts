import { answered, packet } from './services.ts';

/**
 * Accepts what was shared with an address of the user before they could be found by it.
 *
 * @returns how many packets are in the inbox because of it
 * @throws Failure
 */
export async function acceptWaiting(email: string): Promise<number> {
  const { shares } = await answered(packet.POST('/invitations/accept', { body: { contact_value: email } }));
  return shares;
}
