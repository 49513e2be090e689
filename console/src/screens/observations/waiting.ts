import type { Fault } from '../../api/failure.ts';

/** A photo of an observation that has not been sent. */
export interface WaitingPhoto {
  /** att_ and a ULID, chosen here: the observation refers to it before the photo is sent */
  id: string;
  name: string;
  content: Blob;
}

/** An observation that waits in this browser until it can be sent. */
export interface Waiting {
  /** the Idempotency-Key: however often it is sent, it is stored once */
  key: string;
  /** who made it: nobody else's login sends it */
  user: string;
  /** when it was put here, ISO 8601 */
  at: string;
  /** the body of POST /intake/scouting */
  body: object;
  photos: WaitingPhoto[];
  /** the id of the packet, once the observation was stored and photos are still to be sent */
  packet?: string;
  /** why the service refused it; it waits for its author then */
  refused?: Fault | string;
}
