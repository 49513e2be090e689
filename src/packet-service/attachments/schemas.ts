import { Type } from 'typebox';
import { errorAnswers, IdempotencyHeaders, PathId } from '../contract/schemas.ts';
import { TUS_BODY, TUS_EXTENSIONS, TUS_VERSION } from './tus.ts';

const tags = ['Attachments'];

const AttachmentId = Type.String({
  description: 'att_ and a ULID: what an attachments list refers to',
  examples: ['att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2'],
});
const Size = Type.Integer({ description: 'bytes' });
const Sha256 = Type.String({ description: 'SHA-256 of the content, lowercase hex' });
const ContentType = Type.String({
  description: 'media type as its first bytes tell; application/octet-stream when they do not',
});
const Name = Type.String({ description: 'what the client called the file' });

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

/** An answer that is the file itself. */
const bytes = (description: string) => ({
  description,
  content: { 'application/octet-stream': { schema: Type.String({ format: 'binary' }) } },
});

export const postAttachmentSchema = {
  tags,
  summary: 'Upload a file',
  description:
    'multipart/form-data with the file in the field `file`, and its `id` where the client named it before. 201 when ' +
    'it is stored now, 200 when the id has this very content already, 409 when it has another. Where a packet that ' +
    'came with a token named the id first, only that user uploads it; where the reference has a `sha256`, only a ' +
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
        description: 'att_ and a ULID made by the client; a field does as well',
      }),
    ),
  }),
  response: {
    200: { ...Attachment, description: 'it was stored before' },
    201: Attachment,
    ...errorAnswers(400, 403, 408, 409, 410, 413, 415, 429, 500, 503),
  },
};

const params = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100, description: 'attachment id' }),
});

const getDescription =
  'As a download, whatever it is. A single Range is served in part, If-Range holding. Its ETag is its SHA-256, so ' +
  'If-None-Match with it is answered 304. Read by who uploaded it, and by whoever may read a packet that names it.';

export const getAttachmentSchema = {
  tags,
  summary: 'A file',
  description: getDescription,
  params,
  headers: Type.Object({
    range: Type.Optional(Type.String({ description: 'bytes=first-last, bytes=first- or bytes=-count' })),
    'if-range': Type.Optional(Type.String({ description: 'the ETag that the range is of' })),
    'if-none-match': Type.Optional(Type.String({ description: 'the ETags that the client has' })),
  }),
  response: {
    200: bytes('the file'),
    206: bytes('the part of it that was asked for'),
    304: Type.Null({ description: 'unchanged' }),
    ...errorAnswers(403, 404, 416, 500, 503),
  },
};

export const headAttachmentSchema = {
  tags,
  summary: 'What GET would tell of a file',
  params,
  response: {
    200: Type.Null({ description: 'its headers alone' }),
    304: Type.Null({ description: 'unchanged' }),
    ...errorAnswers(403, 404, 500, 503),
  },
};

export const listAttachmentsSchema = {
  tags,
  summary: 'What became of the attachments of a packet',
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
                Type.Literal('stored', { description: 'its file is here' }),
                Type.Literal('missing', { description: 'its file has not come, or has expired' }),
                Type.Literal('foreign', { description: 'a reference to something that is not kept here' }),
              ],
              { description: 'stored: the file is here; missing: not yet, or no more; foreign: not ours' },
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
  tags,
  summary: 'Begin a resumable upload (tus)',
  description:
    `The tus protocol ${TUS_VERSION} with ${TUS_EXTENSIONS}; any tus client does it. Location is where the bytes ` +
    'are sent to, by PATCH; Attachment-Id is what packets refer to. Upload-Metadata may have `id` (att_ and a ' +
    'ULID) and `filename`. With a token the upload is its user`s. It has 7 days. A client that does not know yet how ' +
    'long the file is sends Upload-Defer-Length: 1 instead of Upload-Length, which then comes with a PATCH. The same ' +
    'Idempotency-Key with the same Upload-Length and Upload-Metadata leads to the same upload, at the offset that it ' +
    'has reached; if that upload was deleted or has expired, to a new one.',
  headers: Type.Object({
    ...IdempotencyHeaders.properties,
    'tus-resumable': resumable,
    'upload-length': Type.Optional(Type.Integer({ minimum: 0, description: 'bytes of the file' })),
    'upload-defer-length': Type.Optional(
      Type.String({ pattern: '^1$', description: '1: the length comes later, with a PATCH' }),
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
  tags,
  summary: 'How much of an upload is here (tus)',
  params: uploadParams,
  headers: Type.Object({ 'tus-resumable': resumable }),
  response: {
    200: Type.Null({
      description:
        'Upload-Offset and Upload-Length tell; Upload-Defer-Length: 1 where the length is not known yet',
    }),
    ...errorAnswers(403, 404, 412, 500, 503),
  },
};

export const patchUploadSchema = {
  tags,
  summary: 'Send more of an upload (tus)',
  description:
    `The next bytes of the file, as ${TUS_BODY}. What came before the connection broke is kept. With the last ` +
    'byte the attachment is stored, before the answer. An upload has at most MAX_ATTACHMENT_BYTES (413) and 10,000 ' +
    'pieces, one for every 2 MiB of a request (409). UPLOADS_PER_CALLER and CONCURRENT_UPLOADS hold as for POST /attachments.',
  consumes: [TUS_BODY],
  body: Type.String({ format: 'binary', description: 'the bytes' }),
  params: uploadParams,
  headers: Type.Object({
    'tus-resumable': resumable,
    'upload-offset': Type.Integer({ minimum: 0, description: 'where in the file these bytes begin' }),
    'upload-length': Type.Optional(
      Type.Integer({ minimum: 0, description: 'bytes of the file, where the upload was begun without' }),
    ),
  }),
  response: {
    204: Type.Null({ description: 'Upload-Offset tells how much is here now' }),
    ...errorAnswers(400, 403, 404, 408, 409, 412, 413, 415, 429, 500, 503),
  },
};

export const deleteUploadSchema = {
  tags,
  summary: 'Give an upload up (tus)',
  params: uploadParams,
  headers: Type.Object({ 'tus-resumable': resumable }),
  response: {
    204: Type.Null({ description: 'what had come is removed' }),
    ...errorAnswers(403, 404, 412, 500, 503),
  },
};

export const optionsUploadSchema = {
  tags,
  summary: 'What of the tus protocol is served',
  response: { 204: Type.Null({ description: 'Tus-Version, Tus-Extension and Tus-Max-Size tell' }) },
};
