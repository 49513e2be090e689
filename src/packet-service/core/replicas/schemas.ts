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
        'the Fieldtrace-Position header of the answer to a change: this read then includes that change. Answers have ' +
        'the header only if the service reads from replicas; otherwise every read includes all changes',
      examples: ['0/1A2B3C8'],
    }),
  ),
});
