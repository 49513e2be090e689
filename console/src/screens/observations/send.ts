import { Failure } from '../../api/failure.ts';
import type { Waiting } from './waiting.ts';

/** How what waits is sent and kept. */
export interface Sending {
  /** @returns the id of the packet */
  postObservation(body: object, key: string): Promise<string>;
  postPhoto(photo: Waiting['photos'][number]): Promise<void>;
  keep(waiting: Waiting): Promise<void>;
  remove(key: string): Promise<void>;
}

/** The outcome of an observation: it is stored, it waits for a connection, or the service refused it. */
export type Outcome = 'sent' | 'later' | 'refused';

/** Statuses after which a retry can succeed. */
const isPassing = ({ status }: Failure) =>
  status === 0 || status === 401 || status === 408 || status === 425 || status === 429 || status >= 500;

/**
 * Sends an observation and its photos, one after the other. Every step is kept, so that it goes on where it stopped.
 */
export async function sendWaiting(
  waiting: Waiting,
  { postObservation, postPhoto, keep, remove }: Sending,
): Promise<Outcome> {
  let left = waiting;
  try {
    if (left.packet === undefined) {
      left = { ...left, packet: await postObservation(left.body, left.key) };
      await keep(left);
    }
    for (const photo of waiting.photos) {
      await postPhoto(photo);
      left = { ...left, photos: left.photos.filter(({ id }) => id !== photo.id) };
      await keep(left);
    }
    await remove(left.key);
    return 'sent';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (isPassing(error)) return 'later';
    await keep({ ...left, refused: error.fault });
    return 'refused';
  }
}
