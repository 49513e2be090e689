import { DETECTED_TYPES } from '../../../platform/http/content-type.ts';
import { Type } from '../../../platform/type.ts';
import { errorAnswers, IdempotencyHeaders, PathId } from '../../core/contract/schemas.ts';
import { TUS_BODY, TUS_EXTENSIONS, TUS_VERSION } from './tus.ts';

const tags = ['Attachments'];

const AttachmentId = Type.String({
  description: 'att_ and a ULID: packets refer to the file by this id',
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
    'Send multipart/form-data with the file in the field `file`, and its `id` if the client has chosen one. ' +
    'Returns 201 if the file is new, 200 if the id already has this content, and 409 if it has other content. If ' +
    "a packet sent with a token already refers to the id, only that token's user can upload the file; if the " +
    'reference has a `sha256`, the file must match it (409). Maximum file size: MAX_ATTACHMENT_BYTES (413). A ' +
    'caller can run UPLOADS_PER_CALLER uploads at once (429), a process CONCURRENT_UPLOADS (503). Attachments ' +
    'that no packet refers to are removed after ATTACHMENT_EXPIRE_DAYS. On a bad network, or for large files, ' +
    'upload in parts: POST /attachments/uploads.',
  headers: IdempotencyHeaders,
  consumes: ['multipart/form-data'],
  body: Type.Object({
    id: Type.Optional(Type.String({ maxLength: 100, description: 'att_ and a ULID created by the client' })),
    file: Type.String({ format: 'binary', description: 'the file, with its name' }),
  }),
  querystring: Type.Object({
    id: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'att_ and a ULID created by the client; can also be a form field',
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
  'Always served as a download. A single Range is supported, with If-Range. The ETag is the SHA-256, so ' +
  'If-None-Match can return 304. The uploader can read the file, and so can everyone who can read a packet ' +
  'that refers to it.';

export const getAttachmentSchema = {
  operationId: 'getAttachment',
  tags,
  summary: 'Download a file',
  description: getDescription,
  params,
  headers: Type.Object({
    range: Type.Optional(Type.String({ description: 'bytes=first-last, bytes=first- or bytes=-count' })),
    'if-range': Type.Optional(Type.String({ description: 'ETag of the file that the range belongs to' })),
    'if-none-match': Type.Optional(Type.String({ description: 'ETags of the versions that the client has' })),
  }),
  response: {
    200: bytes('the file'),
    206: bytes('the requested range'),
    304: Type.Null({ description: 'unchanged' }),
    ...errorAnswers(403, 404, 416, 500, 503),
  },
};

export const headAttachmentSchema = {
  operationId: 'headAttachment',
  tags,
  summary: 'Get the headers of a file',
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
  summary: "Get the status of a packet's attachments",
  description: 'Returns one item per reference in the Body, in the same order.',
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
  upload_id: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "the last part of the upload's Location",
  }),
});

export const postUploadSchema = {
  operationId: 'createUpload',
  tags,
  summary: 'Start a resumable upload (tus)',
  description:
    `Implements the tus protocol ${TUS_VERSION} with ${TUS_EXTENSIONS}, for any tus client. Send the bytes to ` +
    'Location with PATCH; packets refer to Attachment-Id. Upload-Metadata can have `id` (att_ and a ULID) and ' +
    "`filename`. With a token, the upload belongs to the token's user. It expires after 7 days. If the file size " +
    "isn't known yet, send Upload-Defer-Length: 1 instead of Upload-Length, and send Upload-Length with a later " +
    'PATCH. Repeating the Idempotency-Key with the same Upload-Length and Upload-Metadata returns the same ' +
    'upload with its current offset, or a new one if it was deleted or has expired.',
  headers: Type.Object({
    ...IdempotencyHeaders.properties,
    'tus-resumable': resumable,
    'upload-length': Type.Optional(Type.Integer({ minimum: 0, description: 'bytes of the file' })),
    'upload-defer-length': Type.Optional(
      Type.String({ pattern: '^1$', description: '1: a later PATCH has the length' }),
    ),
    'upload-metadata': Type.Optional(
      Type.String({ maxLength: 4096, description: 'pairs of key and base64 value, separated by commas' }),
    ),
  }),
  response: {
    201: Type.Object(
      {
        attachment_id: AttachmentId,
        upload_id: Type.String({ description: 'the last part of Location' }),
      },
      { description: 'upload started' },
    ),
    ...errorAnswers(400, 403, 409, 410, 412, 413, 500, 503),
  },
};

export const headUploadSchema = {
  operationId: 'getUploadProgress',
  tags,
  summary: 'Get the progress of an upload (tus)',
  params: uploadParams,
  headers: Type.Object({ 'tus-resumable': resumable }),
  response: {
    200: Type.Null({
      description: "Upload-Offset and Upload-Length; Upload-Defer-Length: 1 if the length isn't known yet",
    }),
    ...errorAnswers(403, 404, 412, 500, 503),
  },
};

export const patchUploadSchema = {
  operationId: 'continueUpload',
  tags,
  summary: 'Continue an upload (tus)',
  description:
    `Send the next bytes of the file as ${TUS_BODY}. If the connection breaks, the received bytes are kept. The ` +
    'attachment is stored before the last request is answered. An upload has at most MAX_ATTACHMENT_BYTES (413) ' +
    'and 10,000 pieces, one for every 2 MiB of a request (409). UPLOADS_PER_CALLER and CONCURRENT_UPLOADS apply ' +
    'as for POST /attachments.',
  consumes: [TUS_BODY],
  body: Type.String({ format: 'binary', description: 'the bytes' }),
  params: uploadParams,
  headers: Type.Object({
    'tus-resumable': resumable,
    'upload-offset': Type.Integer({ minimum: 0, description: 'offset of these bytes in the file' }),
    'upload-length': Type.Optional(
      Type.Integer({ minimum: 0, description: 'bytes of the file, if the upload was started without it' }),
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
  summary: 'Get the supported parts of the tus protocol',
  response: { 204: Type.Null({ description: 'Tus-Version, Tus-Extension and Tus-Max-Size' }) },
};
