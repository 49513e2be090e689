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
  summary: 'About this service, with links',
  description: 'Returns a page to browsers and JSON to programs.',
  response: {
    200: {
      description: 'links to the documentation and other pages',
      content: { 'application/json': { schema: StartPage }, 'text/html': { schema: Type.String() } },
    },
    ...errorAnswers(500),
  },
};
