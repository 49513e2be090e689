import { Type } from 'typebox';
import { errorAnswers, PathId } from '../contract/schemas.ts';

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
        valid: Type.Boolean(),
        hash: Type.String({ description: 'as the Footer says' }),
        recomputed: Type.String({ description: 'from the Header and Body as stored now' }),
        mismatches: Type.Array(Type.String(), {
          description: 'columns and rows beside the packet that are not what it says, such as packets.geoid',
        }),
      },
      { description: 'what came of it' },
    ),
    ...errorAnswers(403, 404, 500, 503),
  },
};
