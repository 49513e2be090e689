import { Type } from '../../../platform/type.ts';
import { errorAnswers, PathId } from '../../core/contract/schemas.ts';
import { Header } from '../../core/packets/schemas.ts';

export const verifyPacketSchema = {
  operationId: 'verifyPacket',
  tags: ['Packets'],
  summary: 'Verify the hash of a packet',
  description:
    'Recomputes the hash of the stored Header and Body and compares it with the Footer. Also compares the ' +
    'columns and rows that filters, lists and search use: `mismatches` lists those that differ from Header and ' +
    'Body.',
  params: Type.Object({ id: PathId }),
  response: {
    200: Type.Object(
      {
        valid: Type.Boolean({
          description: "also false for an erased packet, which can't be verified",
        }),
        erased: Type.Optional(
          Type.Literal(true, { description: 'the packet was erased by an operator; its Body is gone' }),
        ),
        erased_at: Type.Optional(Type.String({ description: 'when, ISO 8601 in UTC' })),
        header: Type.Optional({ ...Header, description: 'only for erased packets' }),
        hash: Type.String({ description: 'the hash in the Footer' }),
        recomputed: Type.Optional(
          Type.String({
            description: 'computed from the stored Header and Body; absent for erased packets',
          }),
        ),
        mismatches: Type.Array(Type.String(), {
          description: 'columns and rows that differ from the packet, such as packets.geoid',
        }),
      },
      { description: 'the result' },
    ),
    ...errorAnswers(403, 404, 500, 503),
  },
};
