const UNKNOWN = 'application/octet-stream';

/** The media types of stored files, for definitions: frequent ones, and that there are others. */
export const DETECTED_TYPES = [
  UNKNOWN,
  'application/pdf',
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/heic',
  'video/mp4',
  'audio/mpeg',
  '*/*',
];

/**
 * Detects the media type of a file from its first bytes; the client's claim is ignored. Texts cannot be detected and
 * are application/octet-stream, like other unknown types.
 */
export async function sniffContentType(head: Buffer): Promise<string> {
  // Loaded with the first file, to start faster.
  const { fileTypeFromBuffer } = await import('file-type');
  try {
    return (await fileTypeFromBuffer(head))?.mime ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}
