import { Type } from 'typebox';
import { errorAnswers, PathId } from '../contract/schemas.ts';
import { Header } from '../packets/schemas.ts';

export const verifyPacketSchema = {
  tags: ['Packets'],
  summary: 'Whether a packet is what was hashed',
  description:
    'Hashes the stored Header and Body again and compares with the hash in the Footer. Also compares what is stored ' +
    'beside them for filters, lists and search: `mismatches` names what differs from the Header and Body.',
  params: Type.Object({ id: PathId }),
  response: {
    200: Type.Object(
      {
        valid: Type.Boolean({
          description: 'false also for a packet that was erased: nothing can be proven of it',
        }),
        erased: Type.Optional(
          Type.Literal(true, { description: 'the packet was erased by an operator; its Body is gone' }),
        ),
        erased_at: Type.Optional(Type.String({ description: 'when, ISO 8601 in UTC' })),
        header: Type.Optional({ ...Header, description: 'of an erased packet' }),
        hash: Type.String({ description: 'as the Footer says' }),
        recomputed: Type.Optional(
          Type.String({ description: 'from the Header and Body as stored now; not of an erased packet' }),
        ),
        mismatches: Type.Array(Type.String(), {
          description: 'columns and rows beside the packet that are not what it says, such as packets.geoid',
        }),
      },
      { description: 'what came of it' },
    ),
    ...errorAnswers(403, 404, 500, 503),
  },
};
