import { WAL_POSITION_PATTERN } from '../../../platform/database/replicas/wal-position.ts';
import { Type } from '../../../platform/type.ts';

/** Name of the header, in lower case. */
export const POSITION_HEADER = 'fieldtrace-position';

/** The header of reads that must see what an answer to a change has acknowledged. */
export const PositionHeaders = Type.Object({
  [POSITION_HEADER]: Type.Optional(
    Type.String({
      pattern: WAL_POSITION_PATTERN,
      maxLength: 17,
      description:
        'Fieldtrace-Position of the answer to a change: this read sees that change. Such answers have it if the ' +
        'service reads from replicas; otherwise every read sees everything',
      examples: ['0/1A2B3C8'],
    }),
  ),
});
