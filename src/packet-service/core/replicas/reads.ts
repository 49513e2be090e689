import type { IncomingHttpHeaders } from 'node:http';
import type { ReadFrom } from '../../../platform/database/replicas/read-from.ts';
import type { Replicas } from '../../../platform/database/replicas/replicas.ts';
import { parseWalPosition } from '../../../platform/database/replicas/wal-position.ts';
import { POSITION_HEADER } from './schemas.ts';

/**
 * Chooses where a request reads what may be a little old: a replica, or the primary. Only for routes with
 * `PositionHeaders`, which have checked the header.
 */
export type ChooseReads = (request: { headers: IncomingHttpHeaders }) => ReadFrom | Promise<ReadFrom>;

export function readsOf({ choose }: Pick<Replicas, 'choose'>): ChooseReads {
  return ({ headers }) => {
    const position = headers[POSITION_HEADER];
    return choose(typeof position === 'string' ? parseWalPosition(position) : undefined);
  };
}
