import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { nullable, text } from '../../base/contract/shapes.ts';

const tags = ['Setting'];
const params = Type.Object({
  name: Type.String({
    pattern: '^[A-Za-z0-9_.-]{1,100}$',
    description: 'name of the setting',
    examples: ['UNPUBLISHED_PRODUCT_LABEL_TEXT'],
  }),
});

const GlobalSetting = Type.Object(
  {
    value: Type.Optional(Type.String({ examples: ['This label is not published yet.'] })),
    isPublic: Type.Optional(Type.Boolean()),
  },
  { description: "empty if it isn't set" },
);

/** Maximum number of settings of the front end. */
export const MAX_SETTINGS = 1000;

export const getSettingSchema = {
  operationId: 'getGlobalSettings',
  tags,
  summary: 'Get a setting of the front end',
  params,
  response: { 200: envelope(GlobalSetting, 'the setting'), ...failureAnswers(401) },
};

export const getPublicSettingSchema = {
  operationId: 'getPublicGlobalSettings',
  tags,
  summary: 'Get a public setting of the front end',
  description: "Settings that aren't public look unset.",
  params,
  response: { 200: envelope(GlobalSetting, 'the setting'), ...failureAnswers() },
};

export const updateSettingSchema = {
  operationId: 'updateGlobalSettings',
  tags,
  summary: 'Add or change a setting of the front end',
  description: 'Omitted fields stay unchanged. There are at most 1,000 settings.',
  params,
  body: Type.Object({
    value: text(10_000),
    isPublic: nullable(Type.Boolean({ description: 'whether it can be read without a login' })),
  }),
  response: { 200: Done, ...failureAnswers(401) },
};
