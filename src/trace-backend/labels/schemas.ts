import { Type } from 'typebox';
import { Done, envelope, failureAnswers } from '../contract/envelope.ts';
import { Id, PathId } from '../contract/schemas.ts';
import { LabelUpdate, LabelView, NewLabel, PublicLabel } from '../products/labels/schemas.ts';

const tags = ['Label'];

const answers = { 200: envelope(LabelView, 'the label'), ...failureAnswers(401, 403, 404) };

export const createLabelSchema = {
  operationId: 'createLabel',
  tags,
  summary: 'Add a label to a product, unpublished',
  body: NewLabel,
  response: answers,
};

export const updateLabelSchema = {
  operationId: 'updateLabel',
  tags,
  summary: 'Change a label',
  description: 'Omitted fields stay unchanged, null clears a field. A published label stays published.',
  body: LabelUpdate,
  response: answers,
};

/** The actions on labels. */
export const ACTIONS = ['PUBLISH_LABEL', 'UNPUBLISH_LABEL'] as const;
export type Action = (typeof ACTIONS)[number];

export const executeLabelSchema = {
  operationId: 'executeLabelAction',
  tags,
  summary: 'Publish or unpublish a label',
  description: 'A published label is public at /api/public/product/label/{uuid}.',
  params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'the action' }) }),
  body: Type.Object({ id: Id }),
  response: answers,
};

export const deleteLabelSchema = {
  operationId: 'deleteLabel',
  tags,
  summary: 'Remove a label',
  description: 'Also a published one: its code then gets 404.',
  params: Type.Object({ id: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};

const Params = Type.Object({
  uuid: Type.String({ minLength: 1, maxLength: 100, description: 'uuid of the label' }),
});

export const publicLabelSchema = {
  operationId: 'getPublishedLabel',
  tags,
  summary: 'A published label',
  description: 'As JSON, or as a page for clients that prefer text/html, such as browsers.',
  params: Params,
  response: {
    200: {
      description: 'the label',
      content: {
        'application/json': { schema: envelope(PublicLabel, 'the label') },
        'text/html': { schema: Type.String() },
      },
    },
    ...failureAnswers(404),
  },
};

export const labelCodeSchema = (operationId: string, type: string) => ({
  operationId,
  tags,
  summary: `The QR code of a published label (${type})`,
  params: Params,
  response: {
    200: { description: 'a picture', content: { [type]: { schema: Type.Any() } } },
    ...failureAnswers(404),
  },
});

export const labelPhotoSchema = {
  operationId: 'getPublishedLabelPhoto',
  tags,
  summary: 'The picture of the product of a published label',
  params: Params,
  response: {
    200: { description: 'at most 1440 × 720', content: { 'image/*': { schema: Type.Any() } } },
    ...failureAnswers(404),
  },
};
