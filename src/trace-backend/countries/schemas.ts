import { Type } from 'typebox';

export const Country = Type.Object({
  id: Type.Integer({ examples: [184] }),
  code: Type.String({ description: 'ISO 3166-1 alpha-2', examples: ['RW'] }),
  name: Type.String({ examples: ['Rwanda'] }),
});
