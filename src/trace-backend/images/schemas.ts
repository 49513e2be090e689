import { Type } from 'typebox';
import { envelope, failureAnswers } from '../contract/envelope.ts';
import { SIZES, type Size } from './renditions.ts';

const MEGABYTE = 1024 ** 2;
export const MAX_IMAGE_BYTES = 10 * MEGABYTE;
export const MAX_DOCUMENT_BYTES = 25 * MEGABYTE;

/** An image or a document in answers. */
export const Image = Type.Object({
  id: Type.Integer(),
  storageKey: Type.String({ description: 'what records refer to, and what it is read by: a random UUID' }),
  name: Type.String({ description: 'the last element of what the client called it' }),
  contentType: Type.String({ description: 'media type of the bytes received, as they themselves tell' }),
  size: Type.Integer({ description: 'bytes received' }),
});

const file = Type.Object({ file: Type.String({ format: 'binary', description: 'the file, with its name' }) });

const uploadAnswers = (description: string) => ({
  200: envelope(Image, description),
  ...failureAnswers(401, 413, 415),
});

export const postImageSchema = {
  tags: ['Image'],
  summary: 'Upload an image',
  description:
    'A JPEG, PNG or WebP file in the part `file`, of 10 MB and 50 million pixels at most; its content decides, not ' +
    'its name. It is served upright and without metadata. What no record carries is removed after 30 days.',
  consumes: ['multipart/form-data'],
  body: file,
  response: uploadAnswers('the image, as it was received'),
};

export const postDocumentSchema = {
  tags: ['Image'],
  summary: 'Upload a document',
  description:
    'A PDF or any other file in the part `file`, of 25 MB at most. It is given back as it came, for download. What no ' +
    'record carries is removed after 30 days.',
  consumes: ['multipart/form-data'],
  body: file,
  response: uploadAnswers('the document, as it was received'),
};

const StorageKey = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'storage key, from the upload',
  examples: ['4f8a2c1e-9b7d-4e55-8a3f-0c6d1b2e7f90'],
});
const params = Type.Object({ storageKey: StorageKey });
const headers = Type.Object({
  'if-none-match': Type.Optional(Type.String({ description: 'the ETags that the client has' })),
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

const whoReads =
  'Read by who uploaded it, by whoever may see a record that carries it, and by a SYSTEM_ADMIN; nobody else learns ' +
  'that it is there.';
const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/webp'];

export const getImageSchema = {
  tags: ['Image'],
  summary: 'An image',
  description: `Upright, in sRGB, without metadata, in the format it came in. ${whoReads}`,
  params,
  headers,
  response: readAnswers('the image', IMAGE_TYPES),
};

export const getImageSizeSchema = {
  tags: ['Image'],
  summary: 'An image in a size',
  description: `${Object.entries(SIZES)
    .map(([name, { width, height }]) => `${name} fits inside ${width} × ${height} pixels`)
    .join(', ')}; a smaller image is not enlarged. ${whoReads}`,
  params: Type.Object({
    storageKey: StorageKey,
    size: Type.Enum(Object.keys(SIZES) as [Size, ...Size[]], { description: 'what it is to fit inside' }),
  }),
  headers,
  response: readAnswers('the image in this size', IMAGE_TYPES),
};

export const getDocumentSchema = {
  tags: ['Image'],
  summary: 'A document',
  description: `As a download, whatever it is. ${whoReads}`,
  params,
  headers,
  response: readAnswers('the document', ['application/octet-stream']),
};
