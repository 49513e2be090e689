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
      description: 'random UUID that identifies the file in records and downloads',
    }),
    name: Type.String({ description: 'the file name as sent, without folders' }),
    contentType: Type.String({ description: 'media type detected from the bytes' }),
    size: Type.Integer({ description: 'bytes received' }),
  }),
);

const file = Type.Object({ file: Type.String({ format: 'binary', description: 'the file, with its name' }) });

/** Parameters that front ends send with an upload. */
const imageQuery = Type.Object({
  resize: Type.Optional(Type.Boolean({ description: 'ignored; every size of an image is always available' })),
});
const documentQuery = Type.Object({
  type: Type.Optional(
    Type.Enum(['GENERAL', 'IMAGE'], {
      description: 'ignored; documents are stored and served unchanged',
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
    'Send a JPEG, PNG or WebP file, at most 10 MB and 50 million pixels, in the part `file`; the content is ' +
    'checked, not the name. It is served upright and without metadata. Images that no record refers to are ' +
    'removed after 30 days.',
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
    'Send a PDF or any other file, at most 25 MB, in the part `file`. It is served unchanged, as a download. ' +
    'Documents that no record refers to are removed after 30 days.',
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
  'if-none-match': Type.Optional(Type.String({ description: 'ETags of the versions that the client has' })),
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
  'Readable for its uploader, for everyone who can see a record that refers to it, and for a SYSTEM_ADMIN; ' +
  'returns 404 for others.';
/** The media types of images that are served. */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/webp'];

export const getImageSchema = {
  operationId: 'getImage',
  tags: ['Image'],
  summary: 'Get an image',
  description: `Upright, in sRGB, without metadata, in the original format. ${readers}`,
  params,
  headers,
  response: readAnswers('the image', IMAGE_TYPES),
};

export const getImageSizeSchema = {
  operationId: 'getImageInSize',
  tags: ['Image'],
  summary: 'Get an image in a size',
  description: `${Object.entries(SIZES)
    .map(([name, { width, height }]) => `${name} fits inside ${width} × ${height} pixels`)
    .join(', ')}; smaller images aren't enlarged. ${readers}`,
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
  summary: 'Get a document',
  description: `Always served as a download. ${readers}`,
  params,
  headers,
  response: readAnswers('the document, with the detected media type', DETECTED_TYPES),
};

const publicReaders =
  'Readable for everyone while a published record, such as a label, shows it; otherwise returns 404.';

export const getPublicImageSchema = {
  operationId: 'getPublicImage',
  tags: ['Image'],
  summary: 'Get a public image',
  description: `Upright, in sRGB, without metadata, in the original format. ${publicReaders}`,
  params,
  headers,
  response: publicAnswers('the image', IMAGE_TYPES),
};

export const getPublicImageSizeSchema = {
  ...getPublicImageSchema,
  operationId: 'getPublicResizedImage',
  summary: 'Get a public image in a size',
  description: `The image fits inside the size; smaller images aren't enlarged. ${publicReaders}`,
  params: getImageSizeSchema.params,
};

export const getPublicDocumentSchema = {
  operationId: 'getPublicDocument',
  tags: ['Image'],
  summary: 'Get a public document',
  description: `Served as a download; images are served as at /api/public/image/{storageKey}. ${publicReaders}`,
  params,
  headers,
  response: publicAnswers('the document, with the detected media type', DETECTED_TYPES),
};
