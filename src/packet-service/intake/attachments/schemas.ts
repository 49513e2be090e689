import { DETECTED_TYPES } from '../../../platform/http/content-type.ts';
import { Type } from '../../../platform/type.ts';
import { errorAnswers, IdempotencyHeaders, PathId } from '../../core/contract/schemas.ts';
import { TUS_BODY, TUS_EXTENSIONS, TUS_VERSION } from './tus.ts';

const tags = ['Attachments'];

const AttachmentId = Type.String({
  description: 'att_ and a ULID: the id by which packets refer to the file',
  examples: ['att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2'],
});
const Size = Type.Integer({ description: 'bytes' });
const Sha256 = Type.String({ description: 'SHA-256 of the content, lowercase hex' });
const ContentType = Type.String({
  description: 'media type detected from the first bytes; application/octet-stream if unknown',
});
const Name = Type.String({ description: 'file name given by the client' });

export const Attachment = Type.Object(
  {
    attachment_id: AttachmentId,
    sha256: Sha256,
    size: Size,
    content_type: ContentType,
    name: Name,
    uploaded_at: Type.String({ description: 'ISO 8601, UTC' }),
  },
  { description: 'the attachment is stored' },
);

/** An answer that is the file itself, of the media type that was detected in it. */
const bytes = (description: string) => ({
  description,
  content: Object.fromEntries(
    DETECTED_TYPES.map(type => [type, { schema: Type.String({ format: 'binary' }) }]),
  ),
});

export const postAttachmentSchema = {
  operationId: 'uploadAttachment',
  tags,
  summary: 'Upload a file',
  description:
    'multipart/form-data with the file in the field `file`, and its `id` if the client has chosen one. 201 if ' +
    'it is new, 200 if the id already has the same content, 409 if it has another. If a packet that ' +
    'was sent with a token referred to the id first, only that user can upload it; if the reference has a `sha256`, only a ' +
    'file with that hash is taken (409). A file has at most MAX_ATTACHMENT_BYTES (413). A caller may have ' +
    'UPLOADS_PER_CALLER uploads at once (429), a process CONCURRENT_UPLOADS (503). An attachment that no packet names after ATTACHMENT_EXPIRE_DAYS is removed. On a bad network, or for large files, upload in parts: ' +
    'POST /attachments/uploads.',
  headers: IdempotencyHeaders,
  consumes: ['multipart/form-data'],
  body: Type.Object({
    id: Type.Optional(Type.String({ maxLength: 100, description: 'att_ and a ULID made by the client' })),
    file: Type.String({ format: 'binary', description: 'the file, with its name' }),
  }),
  querystring: Type.Object({
    id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'att_ and a ULID made by the client; alternatively a form field',
      }),
    ),
  }),
  response: {
    200: { ...Attachment, description: 'it was already stored' },
    201: Attachment,
    ...errorAnswers(400, 403, 408, 409, 410, 413, 415, 429, 500, 503),
  },
};

const params = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100, description: 'attachment id' }),
});

const getDescription =
  'Always as a download. A single Range is served in part, subject to If-Range. The ETag is the SHA-256, so ' +
  'If-None-Match gets 304. Readable for its uploader and for everyone who may read a packet that refers to it.';

export const getAttachmentSchema = {
  operationId: 'getAttachment',
  tags,
  summary: 'A file',
  description: getDescription,
  params,
  headers: Type.Object({
    range: Type.Optional(Type.String({ description: 'bytes=first-last, bytes=first- or bytes=-count' })),
    'if-range': Type.Optional(Type.String({ description: 'ETag of the file that the range belongs to' })),
    'if-none-match': Type.Optional(Type.String({ description: 'ETags that the client has' })),
  }),
  response: {
    200: bytes('the file'),
    206: bytes('the requested part'),
    304: Type.Null({ description: 'unchanged' }),
    ...errorAnswers(403, 404, 416, 500, 503),
  },
};

export const headAttachmentSchema = {
  operationId: 'headAttachment',
  tags,
  summary: 'The headers of a file',
  params,
  response: {
    200: bytes('the headers of the file'),
    304: Type.Null({ description: 'unchanged' }),
    ...errorAnswers(403, 404, 500, 503),
  },
};

export const listAttachmentsSchema = {
  operationId: 'listPacketAttachments',
  tags,
  summary: 'The status of the attachments of a packet',
  description: "One item for each reference in the Body's list, in its order.",
  params: Type.Object({ id: PathId }),
  response: {
    200: Type.Object(
      {
        attachments: Type.Array(
          Type.Object({
            attachment_id: Type.Optional(AttachmentId),
            status: Type.Union(
              [
                Type.Literal('stored', { description: 'the file is stored' }),
                Type.Literal('missing', {
                  description: 'the file has not been uploaded yet, or has expired',
                }),
                Type.Literal('foreign', { description: 'a reference to something not stored here' }),
              ],
              {
                description:
                  'stored: the file is here; missing: not uploaded yet, or expired; foreign: not stored by this service',
              },
            ),
            size: Type.Optional(Size),
            sha256: Type.Optional(Sha256),
            content_type: Type.Optional(ContentType),
            name: Type.Optional(Name),
          }),
        ),
      },
      { description: 'the attachments' },
    ),
    ...errorAnswers(403, 404, 410, 500, 503),
  },
};

const resumable = Type.String({ description: `${TUS_VERSION}: the version of the tus protocol` });
const uploadParams = Type.Object({
  upload_id: Type.String({ minLength: 1, maxLength: 100, description: 'from Location' }),
});

export const postUploadSchema = {
  operationId: 'createUpload',
  tags,
  summary: 'Begin a resumable upload (tus)',
  description:
    `The tus protocol ${TUS_VERSION} with ${TUS_EXTENSIONS}, for any tus client. The bytes are sent to Location ` +
    'by PATCH; packets refer to Attachment-Id. Upload-Metadata may have `id` (att_ and a ' +
    'ULID) and `filename`. With a token the upload belongs to its user. It expires after 7 days. A client that does not know yet how ' +
    'long the file is sends Upload-Defer-Length: 1 instead of Upload-Length, which then comes with a PATCH. The same ' +
    'Idempotency-Key with the same Upload-Length and Upload-Metadata leads to the same upload, at the offset that it ' +
    'has reached; if that upload was deleted or has expired, to a new one.',
  headers: Type.Object({
    ...IdempotencyHeaders.properties,
    'tus-resumable': resumable,
    'upload-length': Type.Optional(Type.Integer({ minimum: 0, description: 'bytes of the file' })),
    'upload-defer-length': Type.Optional(
      Type.String({ pattern: '^1$', description: '1: the length follows with a PATCH' }),
    ),
    'upload-metadata': Type.Optional(
      Type.String({ maxLength: 4096, description: 'pairs of a key and a base64 value, separated by commas' }),
    ),
  }),
  response: {
    201: Type.Object(
      {
        attachment_id: AttachmentId,
        upload_id: Type.String({ description: 'the last part of Location' }),
      },
      { description: 'begun' },
    ),
    ...errorAnswers(400, 403, 409, 410, 412, 413, 500, 503),
  },
};

export const headUploadSchema = {
  operationId: 'getUploadProgress',
  tags,
  summary: 'The progress of an upload (tus)',
  params: uploadParams,
  headers: Type.Object({ 'tus-resumable': resumable }),
  response: {
    200: Type.Null({
      description: 'Upload-Offset and Upload-Length; Upload-Defer-Length: 1 if the length is not known yet',
    }),
    ...errorAnswers(403, 404, 412, 500, 503),
  },
};

export const patchUploadSchema = {
  operationId: 'continueUpload',
  tags,
  summary: 'Continue an upload (tus)',
  description:
    `The next bytes of the file, as ${TUS_BODY}. If the connection breaks, the received bytes are kept. With the last ` +
    'byte the attachment is stored, before the answer. An upload has at most MAX_ATTACHMENT_BYTES (413) and 10,000 ' +
    'pieces, one for every 2 MiB of a request (409). UPLOADS_PER_CALLER and CONCURRENT_UPLOADS hold as for POST /attachments.',
  consumes: [TUS_BODY],
  body: Type.String({ format: 'binary', description: 'the bytes' }),
  params: uploadParams,
  headers: Type.Object({
    'tus-resumable': resumable,
    'upload-offset': Type.Integer({ minimum: 0, description: 'offset of these bytes in the file' }),
    'upload-length': Type.Optional(
      Type.Integer({ minimum: 0, description: 'bytes of the file, if the upload was begun without' }),
    ),
  }),
  response: {
    204: Type.Null({ description: 'Upload-Offset is the new end of the upload' }),
    ...errorAnswers(400, 403, 404, 408, 409, 412, 413, 415, 429, 500, 503),
  },
};

export const deleteUploadSchema = {
  operationId: 'deleteUpload',
  tags,
  summary: 'Abort an upload (tus)',
  params: uploadParams,
  headers: Type.Object({ 'tus-resumable': resumable }),
  response: {
    204: Type.Null({ description: 'the received bytes are removed' }),
    ...errorAnswers(403, 404, 412, 500, 503),
  },
};

export const optionsUploadSchema = {
  operationId: 'getUploadOptions',
  tags,
  summary: 'The supported parts of the tus protocol',
  response: { 204: Type.Null({ description: 'Tus-Version, Tus-Extension and Tus-Max-Size' }) },
};
