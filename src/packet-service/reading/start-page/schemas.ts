import { Type } from '../../../platform/type.ts';
import { errorAnswers } from '../../core/contract/schemas.ts';

const StartPage = Type.Object({
  service: Type.String({ examples: ['packet-service'] }),
  version: Type.String({ examples: ['1.0.0'] }),
  documentation: Type.String({ description: 'path of the interactive documentation', examples: ['/docs'] }),
  definition: Type.String({ description: 'path of the OpenAPI definition', examples: ['/openapi.json'] }),
  graph: Type.String({ description: 'path of the page that draws the graph', examples: ['/graph'] }),
  health: Type.String({ examples: ['/health'] }),
});

export const startPageSchema = {
  operationId: 'showStartPage',
  tags: ['Health'],
  summary: 'What this service is, and where to go on',
  description: 'A page for browsers, JSON for programs.',
  response: {
    200: {
      description: 'where to go on',
      content: { 'application/json': { schema: StartPage }, 'text/html': { schema: Type.String() } },
    },
    ...errorAnswers(500),
  },
};
