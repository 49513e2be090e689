import { Type } from '../../../platform/type.ts';
import { Done, failureAnswers } from '../../base/contract/envelope.ts';
import { nullable, text } from '../../base/contract/shapes.ts';

/** The types of reports. */
const REQUEST_TYPES = [
  'VISIT_QR',
  'VERIFY_BATCH',
  'VERIFY_BATCH_ORIGIN',
  'CLICK_CERT_STD',
  'CLICK_PROD_REC',
  'CLICK_COMPANY_PAGE',
  'CLICK_SOCIAL_MEDIA',
  'LANDING_PAGE',
  'CLICK_VERIFY_BATCH',
  'CLICK_VERIFY_BATCH_ORIGIN',
] as const;

export const logRequestSchema = {
  operationId: 'logPublicRequest',
  tags: ['Label'],
  summary: 'Report an action on the page of a label',
  description:
    'Requests are counted by published label, type and day; nothing is stored about the person. Other reports ' +
    'have no effect.',
  body: Type.Object({
    token: nullable(Type.String({ maxLength: 255, description: 'ignored' })),
    type: Type.Enum([...REQUEST_TYPES], { description: 'the action' }),
    logKey: nullable(
      Type.String({
        maxLength: 64,
        description: 'uuid of the label',
        examples: ['ec488799-a9e2-488a-8f6b-b03662406901'],
      }),
    ),
    value1: text(255),
    value2: text(255),
  }),
  response: { 200: Done, ...failureAnswers() },
};
