import type { Static } from 'typebox';
import { Type } from '../type.ts';

/** The jobs of one queue. */
const QueueCount = Type.Object({
  queue: Type.String({ examples: ['mail'] }),
  waiting: Type.Integer({ description: 'not started, or waiting to be retried' }),
  active: Type.Integer({ description: 'in progress' }),
});
export type QueueCount = Static<typeof QueueCount>;

/** The queues of a service, as both services answer with them. */
export const queueFields = { queues: Type.Array(QueueCount) };
