import { DETECTED_TYPES } from '../../../platform/http/content-type.ts';
import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { SIZES, type Size } from './renditions.ts';

const MEGABYTE = 1024 ** 2;
export const MAX_IMAGE_BYTES = 10 * MEGABYTE;
export const MAX_DOCUMENT_BYTES = 25 * MEGABYTE;

/** An image or a document in answers. */
export const Image = named(
  'StoredFile',
  Type.Object({
    id: Type.Integer(),
    storageKey: Type.String({
      description: 'the key by which records refer to it and it is downloaded: a random UUID',
    }),
    name: Type.String({ description: 'the last path element of the file name sent' }),
    contentType: Type.String({ description: 'media type detected from the bytes' }),
    size: Type.Integer({ description: 'bytes received' }),
  }),
);

const file = Type.Object({ file: Type.String({ format: 'binary', description: 'the file, with its name' }) });

/** Parameters that front ends send with an upload. */
const imageQuery = Type.Object({
  resize: Type.Optional(
    Type.Boolean({ description: 'without effect: every size of an image is served in any case' }),
  ),
});
const documentQuery = Type.Object({
  type: Type.Optional(
    Type.Enum(['GENERAL', 'IMAGE'], {
      description: 'without effect: documents are stored and served unchanged',
    }),
  ),
});

const uploadAnswers = (description: string) => ({
  200: envelope(Image, description),
  ...failureAnswers(401, 413, 415),
});

export const postImageSchema = {
  operationId: 'uploadImage',
  tags: ['Image'],
  summary: 'Upload an image',
  description:
    'A JPEG, PNG or WebP file in the part `file`, of 10 MB and 50 million pixels at most; the content is checked, not ' +
    'the name. It is served upright and without metadata. Images that no record refers to are removed after 30 days.',
  consumes: ['multipart/form-data'],
  querystring: imageQuery,
  body: file,
  response: uploadAnswers('the received image'),
};

export const postDocumentSchema = {
  operationId: 'uploadDocument',
  tags: ['Image'],
  summary: 'Upload a document',
  description:
    'A PDF or any other file in the part `file`, of 25 MB at most. It is served unchanged, for download. Documents that no ' +
    'record refers to are removed after 30 days.',
  consumes: ['multipart/form-data'],
  querystring: documentQuery,
  body: file,
  response: uploadAnswers('the received document'),
};

const StorageKey = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'storage key, from the upload',
  examples: ['4f8a2c1e-9b7d-4e55-8a3f-0c6d1b2e7f90'],
});
const params = Type.Object({ storageKey: StorageKey });
const headers = Type.Object({
  'if-none-match': Type.Optional(Type.String({ description: 'ETags that the client has' })),
});

const readAnswers = (description: string, contentTypes: string[]) => ({
  200: {
    description,
    content: Object.fromEntries(
      contentTypes.map(type => [type, { schema: Type.String({ format: 'binary' }) }]),
    ),
  },
  304: Type.Null({ description: 'unchanged' }),
  ...failureAnswers(401, 404),
});

const publicAnswers = (description: string, contentTypes: string[]) => {
  const { 401: _, ...answers } = readAnswers(description, contentTypes);
  return answers;
};

const readers =
  'Readable for its uploader, for everyone who may see a record that refers to it, and for a SYSTEM_ADMIN; for others it does ' +
  'not exist.';
/** The media types of images that are served. */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/webp'];

export const getImageSchema = {
  operationId: 'getImage',
  tags: ['Image'],
  summary: 'An image',
  description: `Upright, in sRGB, without metadata, in the original format. ${readers}`,
  params,
  headers,
  response: readAnswers('the image', IMAGE_TYPES),
};

export const getImageSizeSchema = {
  operationId: 'getImageInSize',
  tags: ['Image'],
  summary: 'An image in a size',
  description: `${Object.entries(SIZES)
    .map(([name, { width, height }]) => `${name} fits inside ${width} × ${height} pixels`)
    .join(', ')}; a smaller image is not enlarged. ${readers}`,
  params: Type.Object({
    storageKey: StorageKey,
    size: Type.Enum(Object.keys(SIZES) as [Size, ...Size[]], { description: 'the size' }),
  }),
  headers,
  response: readAnswers('the image in this size', IMAGE_TYPES),
};

export const getDocumentSchema = {
  operationId: 'getDocument',
  tags: ['Image'],
  summary: 'A document',
  description: `Always as a download. ${readers}`,
  params,
  headers,
  response: readAnswers('the document, of the media type that was detected in it', DETECTED_TYPES),
};

const publicReaders =
  'Readable for everyone while a published record shows it, such as a label; otherwise it does not exist.';

export const getPublicImageSchema = {
  operationId: 'getPublicImage',
  tags: ['Image'],
  summary: 'A public image',
  description: `Upright, in sRGB, without metadata, in the original format. ${publicReaders}`,
  params,
  headers,
  response: publicAnswers('the image', IMAGE_TYPES),
};

export const getPublicImageSizeSchema = {
  ...getPublicImageSchema,
  operationId: 'getPublicResizedImage',
  summary: 'A public image in a size',
  description: `It fits inside the size; a smaller image is not enlarged. ${publicReaders}`,
  params: getImageSizeSchema.params,
};

export const getPublicDocumentSchema = {
  operationId: 'getPublicDocument',
  tags: ['Image'],
  summary: 'A public document',
  description: `For download; an image is served as at /api/public/image/{storageKey}. ${publicReaders}`,
  params,
  headers,
  response: publicAnswers('the document, of the media type that was detected in it', DETECTED_TYPES),
};
